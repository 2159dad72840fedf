/** Documents where they are stored, queries with their plans, and commands. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App, View } from '../app.js'
import { notJson, parsed, readable, strictJson } from '../json-texts.js'
import { tones } from '../components/palette.js'
import { shardPlansIn, type ShardPlan } from '../query-plan.js'
import { counted, whole } from '../text.js'
import { hasFailed, shCommands, type PageReply } from './sh-commands.js'
import { documentList } from '../components/document-list.js'
import { tableFrame } from '../components/table-frame.js'

const limit = 20

/** As the command `documents` replies. */
interface DocumentsOfShard {
  readonly shard: string
  readonly documents: readonly { readonly document: string; readonly isOrphan: boolean }[]
  readonly hasMore: boolean
  readonly error: string | null
}

interface QueryResult {
  /** null: the reply is too long to be read. */
  readonly plans: readonly ShardPlan[] | null
  readonly explain: string
  readonly documents: readonly string[]
}

/** `of`: the collection and the filter of the result. The form may have changed since. */
type Shown = { readonly of: string } & (
  | { readonly stored: readonly DocumentsOfShard[] }
  | { readonly found: QueryResult }
)

/** null: the first collection. */
let ns: string | null = null
let filter = ''
let shown: Shown | null = null
/** A late reply must not replace that of a later request. */
let requests = 0

export const dataView: View = {
  name: 'data',
  title: 'Data',
  draw: (app) =>
    html`<h1>Data</h1>
      ${app.state.cluster?.topology === 'sharded' ? parts(app) : html`<p>This topology has no shards.</p>`}`,
}

function parts(app: App): TemplateResult {
  const { collections, shards } = app.state
  const named = ns ?? [...collections.keys()].find((each) => !each.startsWith('config.')) ?? ''
  const names = [...shards.keys()].sort()
  return html`${form(named, app)} ${result(names)}
  ${shCommands({ ns: named === '' ? 'shop.orders' : named, collection: collections.get(named) ?? null, shards: names }, app)}`
}

function form(named: string, app: App): TemplateResult {
  const show = (event: Event): void => {
    event.preventDefault()
    void showStored(named, app)
  }
  const write = (event: Event): void => {
    const { name, value } = event.target as HTMLInputElement
    if (name === 'ns') ns = value
    else filter = value
    app.redraw()
  }
  return html`<section>
    <form class="data" @submit=${show}>
      <label
        >Collection
        <input name="ns" list="collections" .value=${named} placeholder="shop.orders" required @input=${write}
      /></label>
      <datalist id="collections">
        ${[...app.state.collections.keys()].sort().map((each) => html`<option value=${each}></option>`)}
      </datalist>
      <label
        >Filter
        <input
          name="filter"
          .value=${filter}
          placeholder="{ customer: 5 }"
          autocomplete="off"
          spellcheck="false"
          @input=${write}
      /></label>
      <p class="buttons">
        <button type="submit" class="main">Show by shard</button>
        <button type="button" @click=${() => void runQuery(named, app)}>Run as a query</button>
      </p>
    </form>
  </section>`
}

interface Request {
  readonly db: string
  readonly collection: string
  /** Strict JSON. */
  readonly filter: string
  readonly of: string
  isLatest(): boolean
}

/** null: the form is wrong, and the page says so. */
function requestOf(named: string, app: App): Request | null {
  const [, db, collection] = /^([^.]+)\.(.+)$/.exec(named) ?? []
  if (db === undefined || collection === undefined) {
    app.fail('The collection needs a database and a name, such as shop.orders.')
    return null
  }
  try {
    const strict = strictJson(filter)
    const number = ++requests
    const of = strict === '{}' ? named : `${named}, ${filter.trim()}`
    return { db, collection, filter: strict, of, isLatest: () => number === requests }
  } catch (error) {
    app.fail(`The filter ${notJson(error)}`)
    return null
  }
}

async function showStored(named: string, app: App): Promise<void> {
  shown = null
  const request = requestOf(named, app)
  if (request === null) return
  const fields = { ns: named, filter: request.filter, limit }
  const reply = await app.run('documents', fields, `The shards have been asked for ${named}.`)
  if (reply === null || !request.isLatest()) return
  shown = { of: request.of, stored: (reply as { readonly shards: readonly DocumentsOfShard[] }).shards }
  app.redraw()
}

async function runQuery(named: string, app: App): Promise<void> {
  shown = null
  const request = requestOf(named, app)
  if (request === null) return
  const { db, collection, filter: strict, of } = request
  // As a text: numbers of 64 bits would not survive as numbers of JavaScript.
  const find = `{"find":${JSON.stringify(collection)},"filter":${strict},"limit":${limit},"singleBatch":true}`
  const explain = await ask(`{"explain":${find},"verbosity":"executionStats"}`, db, app)
  const reply = explain === null ? null : await ask(find, db, app)
  if (explain === null || reply === null || !request.isLatest()) return
  const plan = parsed(explain.reply)
  const plans = plan === null ? null : shardPlansIn(plan)
  shown = { of, found: { plans, explain: readable(explain.reply), documents: reply.documents } }
  app.redraw()
}

/** null: it has failed, and the page says so. */
async function ask(command: string, db: string, app: App): Promise<PageReply | null> {
  const answer = (await app.run('runCommand', { db, command }, 'The query has been run.')) as PageReply | null
  return answer === null || hasFailed(answer, app) ? null : answer
}

function result(shards: readonly string[]): TemplateResult | typeof nothing {
  if (shown === null) return nothing
  return 'stored' in shown ? documents(shown.stored, shown.of, shards) : query(shown.found, shown.of, shards)
}

function documents(stored: readonly DocumentsOfShard[], of: string, shards: readonly string[]): TemplateResult {
  const isOfRouters = /^(config|admin)\./.test(of) && stored.every(({ documents: found }) => found.length === 0)
  const hasOrphans = stored.some((each) => each.documents.some(({ isOrphan }) => isOrphan))
  return html`<section aria-label="Documents by shard">
    <h2>Documents by shard: ${of}</h2>
    <p class="soft">
      Up to ${limit} of each shard, as a direct client of the shard sees
      them.${hasOrphans ? ' ▲ marks orphans: the shard does not own them, and routers do not return them.' : ''}
    </p>
    ${
      isOfRouters
        ? html`<p>Routers read most collections of config and admin from the config server: run it as a query.</p>`
        : nothing
    }
    <div class="cards large">${stored.map((each) => shardCard(each, shards))}</div>
  </section>`
}

function shardCard(
  { shard, documents: rows, hasMore, error }: DocumentsOfShard,
  shards: readonly string[],
): TemplateResult {
  const summary =
    error ?? (rows.length === 0 ? 'no documents' : `${counted(rows.length, 'document')}${hasMore ? ', and more' : ''}`)
  return html`<article class="card tone${Math.max(0, shards.indexOf(shard)) % tones}" data-documents=${shard}>
    <h3>${shard}</h3>
    <p class=${error === null ? 'soft' : 'bad'}>${summary}</p>
    ${documentList(rows.map(({ document, isOrphan }) => (isOrphan ? { document, mark: '▲ orphan' } : { document })))}
  </article>`
}

/** In some clusters the config server is a shard, too. */
const sentToText = (plans: readonly ShardPlan[], shards: readonly string[]): string =>
  plans.every(({ shard }) => shard === 'config') && !shards.includes('config')
    ? 'The query was sent to the config server.'
    : `The query was sent to ${counted(plans.length, 'shard')}.`

function query(
  { plans, explain, documents: rows }: QueryResult,
  of: string,
  shards: readonly string[],
): TemplateResult {
  const planRows = (plans ?? []).map(
    (plan) =>
      html`<tr>
        <td>${plan.shard}</td>
        <td class="why">${plan.stages}</td>
        <td>${whole(plan.keysExamined)}</td>
        <td>${whole(plan.documentsExamined)}</td>
        <td>${whole(plan.returned)}</td>
        <td>${whole(plan.durationMs)}</td>
      </tr>`,
  )
  return html`<section aria-label="Query">
    <h2>Query: ${of}</h2>
    ${
      plans === null
        ? html`<p>The reply of explain is too long to read the plans.</p>`
        : plans.length === 0
          ? html`<p>The plan has no shards.</p>`
          : html`<p>
                ${sentToText(plans, shards)} The view Operations shows the reason, if the query is among its samples.
              </p>
              ${tableFrame('Plan', ['shard', 'plan', 'keys', 'documents', 'returned', 'ms'], planRows, 'plan')}`
    }
    <p>
      ${rows.length === 0 ? 'It returned nothing.' : `It returned ${counted(rows.length, 'document')}, of up to ${limit}.`}
    </p>
    ${documentList(rows.map((document) => ({ document })))}
    <details>
      <summary>The reply of explain</summary>
      <pre class="reply" tabindex="0" aria-label="Reply of explain">${explain}</pre>
    </details>
  </section>`
}
