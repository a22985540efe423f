package redact_test
import ("testing";"os";"path/filepath";"fmt";"strings";"io/fs";"github.com/deed-dev/deed/internal/redact";"time")
func TestTmpScan(t *testing.T){
 total:=0; files:=0; sum:=redact.Report{}; n:=0; begun:=time.Now()
 filepath.WalkDir(os.Getenv("SCANROOT"), func(p string, d fs.DirEntry, err error) error {
  if err!=nil||d.IsDir() {return nil}
  switch filepath.Ext(p) { case ".go",".md",".json",".js",".ts",".yaml",".yml",".txt",".py",".html",".css",".toml",".sum",".c",".h": default: return nil }
  raw,err:=os.ReadFile(p); if err!=nil||len(raw)>2<<20 {return nil}
  total+=len(raw); files++
  out,r:=redact.Text(string(raw)); if r==nil {return nil}
  for k,v:=range r { sum[k]+=v }
  a:=strings.Split(string(raw),"\n"); b:=strings.Split(out,"\n")
  if len(a)==len(b) { for i:=range a { if a[i]!=b[i] { n++; if strings.Contains(b[i],"high_entropy")==(os.Getenv("HE")!="") && n%7==0 { fmt.Printf("%s:%d\n  %.200s\n  %.200s\n", filepath.Base(p), i+1, strings.TrimSpace(a[i]), strings.TrimSpace(b[i])) } } } }
  return nil })
 fmt.Println("files",files,"MB",total/1e6,"took",time.Since(begun), sum)
}
