/**
 * Selects an instant: the figures of each shard, and the position in plots and maps of the section.
 */
import type { Sample } from '../types.js'
import { timeText } from './format.js'

/** With more shards, each is a cell filled in proportion instead of a bar. */
const barsMax = 24

/**
 * @param shards all that ever existed
 * @param tones their colour classes
 */
export function slider(rows: readonly Sample[], shards: readonly string[], tones: readonly string[]): string {
  const values = (of: 'bytes' | 'chunks' | 'operations' | 'orphans') =>
    rows.map((row) => shards.map((id) => row.shards[id]?.[of] ?? null))
  const few = shards.length <= barsMax
  const data = {
    times: rows.map(({ atMs }) => timeText(atMs)),
    ms: rows.map(({ atMs }) => atMs),
    shards,
    tones,
    bytes: values('bytes'),
    chunks: values('chunks'),
    ...(few ? { orphans: values('orphans') } : {}),
  }
  // Data must not contain the end tag of the script element.
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`)
  return `<div class="instant" hidden><label><span>At <output></output></span><input type="range" min="0" max="${rows.length - 1}" value="${rows.length - 1}" aria-label="instant"></label></div><div class="${few ? 'bars' : 'cells'}" hidden></div><script type="application/json">${json}</script>`
}

export const sliderStyle = `.instant{position:sticky;top:0;z-index:1;background:var(--paper);padding:8px 0;border-bottom:1px solid var(--rule)}.instant[hidden],.bars[hidden],.cells[hidden]{display:none}.instant label{display:flex;gap:14px;align-items:center;color:var(--soft)}.instant span{min-width:108px;font-variant-numeric:tabular-nums}.instant output{color:var(--ink);font-weight:600}.instant input{flex:1;min-width:0;accent-color:var(--s2)}.bars{display:grid;grid-template-columns:max-content minmax(40px,1fr) max-content;gap:5px 12px;align-items:center;margin:12px 0 18px;font-size:13px;font-variant-numeric:tabular-nums}.bars i{display:block;height:12px;border-radius:2px;min-width:1px}.bars u{text-decoration:none;color:var(--soft);text-align:right}.cells{display:flex;flex-wrap:wrap;gap:2px;margin:12px 0 18px}.cells i{width:14px;height:14px;border-radius:2px;background:linear-gradient(to top,var(--s2) var(--full),var(--rule) var(--full))}.cells i.none{visibility:hidden}.cells p{flex-basis:100%}.cursor{stroke:var(--soft);stroke-width:1}.rowmark{fill:none;stroke:var(--ink);stroke-width:1.5}`

/** Without the script, the page shows everything except single instants. */
export const sliderScript = `
for (const section of document.querySelectorAll('.run')) {
  const data = JSON.parse(section.querySelector('script[type="application/json"]').textContent)
  const panel = section.querySelector('.instant'), input = panel.querySelector('input'), output = panel.querySelector('output')
  const board = section.querySelector('.bars,.cells'), isBars = board.className === 'bars'
  const most = Math.max(1, ...data.bytes.map((row) => Math.max(...row)))
  const sizeText = (bytes) => {
    let unit = 0
    for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024
    return (unit === 0 ? Math.round(bytes) : Number(bytes.toPrecision(3))) + ' ' + ['B', 'KB', 'MB', 'GB', 'TB'][unit]
  }
  const count = (n, noun) => Math.round(n).toLocaleString('en') + ' ' + noun + (n === 1 ? '' : 's')
  const element = (name, parent, text) => {
    const made = parent.appendChild(document.createElement(name))
    if (text !== undefined) made.textContent = text
    return made
  }
  if (!isBars) element('p', board, 'Each cell is a shard, filled in proportion to its bytes. Point at a cell for its numbers.')
  const parts = data.shards.map((shard, i) => {
    if (!isBars) return { cell: element('i', board) }
    element('span', board, shard)
    const bar = element('i', element('div', board))
    bar.className = data.tones[i]
    return { bar, text: element('u', board) }
  })
  const cursors = [...section.querySelectorAll('svg[data-axis]')].map((svg) => {
    const [from, to, left, right, top, bottom] = svg.dataset.axis.split(' ').map(Number)
    const line = svg.appendChild(document.createElementNS(svg.namespaceURI, 'line'))
    line.setAttribute('class', 'cursor')
    line.setAttribute('y1', top)
    line.setAttribute('y2', bottom)
    return (ms) => {
      const x = left + ((right - left) * (ms - from)) / Math.max(1, to - from)
      line.setAttribute('x1', x)
      line.setAttribute('x2', x)
    }
  })
  const maps = [...section.querySelectorAll('svg.map')].map((svg) => {
    const [top, height, first, rowHeight] = svg.dataset.strip.split(' ').map(Number)
    const rows = svg.querySelectorAll('.row'), strip = svg.querySelector('.strip')
    return (at) => {
      svg.querySelector('.at').textContent = data.times[at]
      svg.querySelector('.rowmark').setAttribute('y', first + at * rowHeight)
      strip.replaceChildren(...[...rows[at].children].map((rect) => {
        const copy = rect.cloneNode()
        copy.setAttribute('y', top)
        copy.setAttribute('height', height)
        return copy
      }))
    }
  })
  const show = () => {
    const at = Number(input.value)
    output.textContent = data.times[at]
    input.setAttribute('aria-valuetext', data.times[at])
    data.shards.forEach((shard, i) => {
      const bytes = data.bytes[at][i], { bar, text, cell } = parts[i]
      const said = bytes === null ? 'not in the cluster' : sizeText(bytes) + ', ' + count(data.chunks[at][i], 'chunk') + (data.orphans && data.orphans[at][i] > 0 ? ', ' + count(data.orphans[at][i], 'orphan') : '')
      if (bar) {
        bar.style.width = (100 * (bytes ?? 0)) / most + '%'
        text.textContent = said
      } else {
        cell.style.setProperty('--full', (100 * (bytes ?? 0)) / most + '%')
        cell.title = shard + ': ' + said
        cell.className = bytes === null ? 'none' : ''
      }
    })
    for (const move of cursors) move(data.ms[at])
    for (const move of maps) move(at)
  }
  input.addEventListener('input', show)
  panel.hidden = board.hidden = false
  show()
}`
