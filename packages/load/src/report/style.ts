export const style = `
:root{color-scheme:light dark;--ink:#1c2733;--soft:#5b6b7b;--paper:#fff;--panel:#f4f6f8;--rule:#dde3e9;--s0:#0b6e4f;--s1:#c8553d;--s2:#2a6fb0;--s3:#8a6fb8;--s4:#b8860b;--s5:#5b6b7b;--s6:#d05aa0;--s7:#1b9aaa;--bad:#c0233c;--good:#0b6e4f}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#9aa8b6;--paper:#14191f;--panel:#1d242c;--rule:#333d48;--s0:#4fc59a;--s1:#f0876f;--s2:#6db1f0;--s3:#b9a0e4;--s4:#e0b64a;--s5:#9aa8b6;--s6:#f08cc8;--s7:#5ed0de;--bad:#ff6b81;--good:#4fc59a}}
:root,*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,"DejaVu Sans",sans-serif}
main{max-width:1040px;margin:0 auto;padding:28px 20px 60px}h1{font-size:26px;margin:0 0 4px}h2{font-size:18px;margin:36px 0 8px;border-top:1px solid var(--rule);padding-top:18px}
p{margin:6px 0;color:var(--soft)}code{font:13px ui-monospace,"DejaVu Sans Mono",monospace;color:var(--ink)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:10px;margin:20px 0}.tile{background:var(--panel);border-radius:8px;padding:12px 14px}.tile b{display:block;font-size:21px;font-variant-numeric:tabular-nums}.tile span{color:var(--soft);font-size:13px}
.tile.pass b{color:var(--good)}.tile.fail b,.fail{color:var(--bad)}.tile.warn b,td.warn{color:var(--s1)}
figure{margin:14px 0}svg{display:block;width:100%;height:auto;background:var(--panel);border-radius:8px;padding:8px}
.title{font-size:14px;font-weight:600;fill:var(--ink)}.tick{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}.label{font-size:12px;fill:var(--soft)}.grid{stroke:var(--rule);stroke-width:1}
.line{fill:none;stroke-width:2;stroke-linejoin:round}.mark{stroke:var(--bad);stroke-dasharray:4 3}.marked{font-size:12px;fill:var(--bad);stroke:var(--panel);stroke-width:4px;stroke-linejoin:round;paint-order:stroke}.line.over{stroke-dasharray:7 7}.band{fill:var(--bad);opacity:.09}
${[0, 1, 2, 3, 4, 5, 6, 7].map((n) => `path.s${n}{stroke:var(--s${n})}circle.s${n},rect.s${n}{fill:var(--s${n})}i.s${n}{background:var(--s${n})}`).join('')}path.bad{stroke:var(--bad)}circle.bad{fill:var(--bad)}i.bad{background:var(--bad)}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:13px}.legend .key{display:inline-block;width:24px;height:8px;margin-right:6px;padding:0;background:none;border-radius:0;vertical-align:middle}.open{fill:var(--s7);opacity:.13}
svg.small{display:none}@media(max-width:720px){svg.large{display:none}svg.small{display:block}figure,.scroll{overflow-x:auto}svg{min-width:660px}svg.small,svg.key{min-width:0}}
.wide{overflow-x:auto;background:linear-gradient(var(--paper),var(--paper)) right/20px 100% no-repeat local,linear-gradient(to left,var(--rule),transparent) right/16px 100% no-repeat scroll}.wide td:first-child,.wide th:first-child:not([colspan]){position:sticky;left:0;background:var(--paper)}table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}th,td{padding:5px 7px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}th:first-child{text-align:left}thead th{color:var(--soft);font-weight:500}th.group{text-align:center}
ul{color:var(--soft)}footer{margin-top:30px}
`
