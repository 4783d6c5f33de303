"""How the page looks: on a phone, on a wide screen, in the dark, on paper."""

from softmargin.report.markup import Html

STYLE = Html("""
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2329;--soft:#5a6570;--line:#d5dbe1;--box:#f4f6f8;--link:#0a5f8a;
--outside:#2f7fb5;--on:#14384f;--inside:#e3a23c;--wrong:#b8402f;--good:#23714a;--bad:#a83222}
@media(prefers-color-scheme:dark){:root{--paper:#14181c;--ink:#e6eaee;--soft:#a3aeb8;--line:#39424b;--box:#1e242a;
--link:#7cc0e8;--outside:#4d9fd6;--on:#d8ecf8;--inside:#e0a848;--wrong:#e0705e;--good:#6cc79a;--bad:#f08d7c}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;padding:1rem;max-width:62rem;background:var(--paper);color:var(--ink);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:.4rem 0 .2rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:0 0 .6rem}
h3{font-size:1.02rem;margin:1.2rem 0 .3rem}
p{margin:.5rem 0;max-width:44rem;overflow-wrap:anywhere}
.soft,figcaption,caption{color:var(--soft);font-size:.9rem}
a{color:var(--link)}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.6rem 0;list-style:none}
nav a{display:inline-block;padding:.35rem 0}
section{border-top:1px solid var(--line);padding:1.3rem 0 .6rem;margin-top:1rem}
.verdict{border-left:.35rem solid var(--good);background:var(--box);padding:.6rem .9rem;border-radius:.2rem;
max-width:none}
.verdict.bad{border-color:var(--bad)}
.verdict strong{display:block}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.2rem,1fr));gap:.6rem;margin:.8rem 0;padding:0}
.facts div{background:var(--box);border-radius:.3rem;padding:.5rem .7rem}
.facts dt{color:var(--soft);font-size:.85rem}
.facts dd{margin:0;font-size:1.15rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.key{display:inline-block;width:.75em;height:.75em;border-radius:.12em;margin-right:.4em}
.facts .key{margin-right:.35em}
figure{margin:.8rem 0}
figure>svg{display:block;width:100%;max-width:36rem;height:auto}
.graphs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(17rem,100%),1fr));gap:1rem}
.graphs figure{margin:0}
svg text{fill:var(--ink);font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
svg .soft{fill:var(--soft);font-size:11px}
svg .grid{stroke:var(--line);stroke-width:1;fill:none}
svg .axis{stroke:var(--soft);stroke-width:1;fill:none}
svg .mark{stroke:var(--ink);stroke-width:1;stroke-dasharray:3 2;fill:none}
.outside{fill:var(--outside);background:var(--outside)}.on{fill:var(--on);background:var(--on)}
.inside{fill:var(--inside);background:var(--inside)}.wrong{fill:var(--wrong);background:var(--wrong)}
.curve{fill:none;stroke:var(--outside);stroke-width:2}
.curve.bound{stroke:var(--wrong);stroke-dasharray:5 3}
.arrow{stroke:var(--soft);stroke-width:1.5;fill:none}
.head{fill:var(--soft)}
.node{fill:var(--box);stroke:var(--outside);stroke-width:1.5}
.wide{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.3rem}
th,td{text-align:left;padding:.28rem .5rem;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:anywhere}
th{font-size:.85rem;color:var(--soft);font-weight:600;overflow-wrap:normal;vertical-align:bottom}
.t{min-width:6.6rem}
.n{text-align:right}
td.n{white-space:nowrap}
td.n small{display:block;white-space:normal}
td.n br{display:none}
small{color:var(--soft);font-size:.8rem}
td.b,th.b{width:34%;min-width:4rem}
td.b svg{display:block;width:100%;height:1.1rem;margin-top:.2rem}
td.b .zero{stroke:var(--soft);stroke-width:1;vector-effect:non-scaling-stroke}
td.b .range{stroke:var(--ink);stroke-width:2;vector-effect:non-scaling-stroke}
.changed{font-weight:700}
details{margin:.4rem 0}
summary{cursor:pointer;color:var(--link);padding:.35rem 0}
ul,ol{padding-left:1.3rem;max-width:44rem}
li{overflow-wrap:anywhere}
.keys{list-style:none;padding:0}
@media(max-width:30rem){body{padding:.8rem}th,td{padding:.28rem .22rem}td.b,th.b{width:22%;min-width:3.2rem}
.t{min-width:5.7rem}.many .b{display:none}
.facts{grid-template-columns:repeat(2,1fr)}}
@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--box:#f2f2f2;--link:#000;
--outside:#2f7fb5;--on:#14384f;--inside:#e3a23c;--wrong:#b8402f;--good:#23714a;--bad:#a83222}
body{max-width:none;padding:0;font-size:10.5pt}nav,details{display:none}.wide{overflow:visible}
figure,tr,.verdict,.facts div{break-inside:avoid}h2,h3,caption{break-after:avoid}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}figure>svg{max-width:26rem}}
""")
