package docket_test
import ("testing";"pgregory.net/rapid";"fmt")
func TestZZStat(t *testing.T){
 n:=map[string]int{}; codes:=map[string]int{}; rv:=0; fc:=0
 law(t, func(t *rapid.T){ w:=draw(t); c,v:=w.judge(t,w.drawTime(t)); n[fmt.Sprint(lenses(&v))]++; n[string(v.Status)]++; if v.Decided {n["decided"]++}; if len(c.Rivals)>0{rv++}; fc+=len(c.Facts)
  for _,k:=range v.Checks { for _,r:=range k.Reasons { codes[string(r.Code)]++ } }
  for _,r:=range v.Notes { codes[string(r.Code)]++ } 
  for _,r:=range v.Outcome.Codes { codes["O "+string(r)]++ } })
 t.Log(n, rv, fc); for k,v:=range codes { t.Log(v,k) }
}
