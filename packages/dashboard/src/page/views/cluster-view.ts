/** Members by set, what is broken, and links with faults. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { LiveMember } from '../../stream/deltas.js'
import type { LiveState } from '../../stream/live-state.js'
import type { App, View } from '../app.js'
import { tones } from '../components/palette.js'
import { nowOf } from '../now.js'
import { operationsByShard } from '../operation-sums.js'
import { lossesOf, problemsOf } from '../problems.js'
import { counted } from '../text.js'
import { tableFrame } from '../components/table-frame.js'

const linkVerbs: ReadonlySet<string> = new Set([
  ...['partition', 'delay', 'limit', 'drop', 'refuse', 'cut', 'duplicate'],
])

export const clusterView: View = {
  name: 'cluster',
  title: 'Cluster',
  draw(app) {
    const { state } = app
    const sets = setsOf(state)
    const of = (role: string) => sets.filter(([, [first]]) => first!.role === role)
    const others = sets.filter(([, [first]]) => !['mongos', 'config-server', 'shard'].includes(first!.role))
    const owners = ownersIn(state)
    const group = (title: string, shown: readonly MemberSet[]) => groupOf(title, shown, app, owners)
    return html`<h1>Cluster</h1>
      ${broken(app)} ${group('Routers', of('mongos'))} ${group('Config server', of('config-server'))}
      ${group('Shards', of('shard'))} ${group('Other members', others)} ${links(app)} ${table(state)}`
  },
}

type MemberSet = readonly [name: string, members: readonly LiveMember[]]

function setsOf({ members }: LiveState): MemberSet[] {
  const sets = new Map<string, LiveMember[]>()
  for (const member of members.values()) sets.set(member.set, [...(sets.get(member.set) ?? []), member])
  return [...sets].sort(([a], [b]) => (a < b ? -1 : 1))
}

function broken({ state }: App): TemplateResult {
  const problems = problemsOf(state)
  const losses = lossesOf(state)
  return html`<section aria-labelledby="broken">
    <h2 id="broken">What is broken</h2>
    ${
      problems.length === 0
        ? html`<p>Nothing.</p>`
        : html`<ul class="problems">
            ${problems.map((problem) => html`<li>${problem}</li>`)}
          </ul>`
    }
    ${losses.length === 0 ? nothing : html`<p class="warn">${losses.join(' ')}</p>`}
  </section>`
}

function groupOf(
  title: string,
  sets: readonly MemberSet[],
  app: App,
  owners: ReadonlyMap<string, Owner>,
): TemplateResult | typeof nothing {
  if (sets.length === 0) return nothing
  return html`<section>
    <h2>${title}</h2>
    <div class="cards">${sets.map((set) => card(set, app, owners.get(set[0])))}</div>
  </section>`
}

function card([name, members]: MemberSet, app: App, owner: Owner | undefined): TemplateResult {
  const shard = app.state.shards.get(name)
  const notes = [
    ...(owner === undefined ? [] : [counted(owner.chunks, 'chunk')]),
    ...(owner === undefined || owner.operations === 0 ? [] : [`${counted(owner.operations, 'operation')} in 10 s`]),
    ...(shard?.draining === true ? ['draining'] : []),
    ...(shard === undefined || shard.zones.length === 0 ? [] : [`zones ${shard.zones.join(', ')}`]),
    ...(shard === undefined && members[0]!.role === 'shard' ? ['not in the cluster'] : []),
  ]
  return html`<article class="card ${owner === undefined ? '' : `tone${owner.place % tones}`}" data-set=${name}>
    <h3>${name}</h3>
    ${notes.length === 0 ? nothing : html`<p class="soft">${notes.join(' · ')}</p>`}
    <ul class="members">
      ${members.map((member) => memberItem(member, app))}
    </ul>
  </article>`
}

function memberItem(member: LiveMember, app: App): TemplateResult {
  const { address, set, machine } = member
  const [sign, kind, text] = shownState(member, app.state)
  return html`<li data-member=${address} data-state=${member.state}>
    <p>
      <span class=${kind} aria-hidden="true">${sign}</span> ${address === set ? '' : `${address}: `}<span class=${kind}
        >${text}</span
      >
      <code>${member.endpoint}</code>${machine === null ? '' : ` on ${machine}`}
    </p>
    <p class="buttons">${buttons(member, app)}</p>
  </li>`
}

function shownState({ address, state, setState }: LiveMember, { faults }: LiveState): [string, string, string] {
  if (state === 'crashed' || state === 'stopped') return ['✕', 'bad', state]
  const hit = faults.filter((fault) => fault.state === 'active' && fault.members.includes(address))
  const verbs = hit.map(({ verb }) => effects[verb] ?? verb)
  if (hit.length > 0)
    return ['▲', 'warn', [...(setState === null ? [] : [setState.toLowerCase()]), ...verbs].join(', ')]
  return setState === 'PRIMARY' ? ['★', 'fine', 'primary'] : ['●', 'fine', (setState ?? state).toLowerCase()]
}

/** What a fault makes of a member, by verb. */
const effects: Readonly<Record<string, string>> = {
  pause: 'paused',
  slow: 'slow',
  slowDisk: 'slow disk',
  fullDisk: 'full disk',
  skewClock: 'clock is wrong',
  jumpClock: 'clock is wrong',
  freezeRoutes: 'routes are frozen',
  stallRangeDeleter: 'range deleter stands still',
  delayReplication: 'replication is late',
  shrinkOplog: 'small oplog',
  hold: 'held at a step',
  partition: 'partitioned',
  refuse: 'refuses connections',
}

function buttons({ address, state }: LiveMember, app: App): TemplateResult {
  const apply = (verb: string, done: string): TemplateResult =>
    html`<button
      type="button"
      aria-label="${verb} ${address}"
      @click=${() => void app.run('apply', { fault: `${verb.toLowerCase()} ${address}` }, `${address} ${done}.`)}
    >
      ${verb}
    </button>`
  const paused = app.state.faults.find(({ verb, members }) => verb === 'pause' && members.includes(address))
  if (state === 'crashed' || state === 'stopped') return apply('Restart', 'has been restarted')
  if (paused !== undefined) return apply('Resume', 'has been resumed')
  return html`${apply('Crash', 'has crashed')} ${apply('Pause', 'is paused')}`
}

interface Owner {
  /** Among the shards in the order of their names. */
  readonly place: number
  /** Of all collections together. */
  chunks: number
  /** In the last ten seconds. */
  readonly operations: number
}

function ownersIn(state: LiveState): ReadonlyMap<string, Owner> {
  const counts = operationsByShard(state.operations, nowOf(state))
  const owners = new Map(
    [...state.shards.keys()]
      .sort()
      .map((shard, place) => [shard, { place, chunks: 0, operations: counts.get(shard) ?? 0 }]),
  )
  for (const ns of state.collections.keys())
    for (const [shard, count] of state.countsOf(ns).byShard) {
      const owner = owners.get(shard)
      if (owner !== undefined) owner.chunks += count
    }
  return owners
}

function links({ state }: App): TemplateResult {
  const faults = state.faults.filter(({ verb }) => linkVerbs.has(verb))
  return html`<section>
    <h2>Links</h2>
    ${
      faults.length === 0
        ? html`<p>All links between members, and to clients, work.</p>`
        : html`<ul>
            ${faults.map(({ fault, state: of }) => html`<li>${fault} <span class="soft">(${of})</span></li>`)}
          </ul>`
    }
  </section>`
}

function table(state: LiveState): TemplateResult {
  const members = [...state.members.values()]
  const hasMachines = members.some(({ machine }) => machine !== null)
  const columns = ['member', 'role', 'set', 'state', 'state in its set', 'address']
  const rows = members.map(
    ({ address, role, set, state: of, setState, endpoint, machine }) =>
      html`<tr>
        ${[address, role, set, of, setState ?? '–', endpoint, ...(hasMachines ? [machine ?? '–'] : [])].map(
          (text) => html`<td>${text}</td>`,
        )}
      </tr>`,
  )
  return html`<details>
    <summary>Members as a table</summary>
    ${tableFrame('Members', [...columns, ...(hasMachines ? ['host'] : [])], rows)}
  </details>`
}
