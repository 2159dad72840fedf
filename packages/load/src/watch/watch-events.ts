/** The events of a change stream of any MongoDB. */
import { BSON, MongoClient, MongoServerError, type ChangeStream, type Document } from 'mongodb'
import { messageOf, OptionError } from '../option-error.js'
import { clientOptions } from '../run/control.js'

export interface WatchOptions {
  readonly uri: string
  /** `db` or `db.collection`; null: the cluster. */
  readonly ns: string | null
  /** Default: only the changes of updates. */
  readonly fullDocument?: string | undefined
  readonly showExpandedEvents?: boolean
  /** After the event with this `_data`. Default: from now on. */
  readonly resumeAfter?: string | undefined
  /** Ends after so many events. Default: no limit. */
  readonly count?: number | undefined
}

export interface WatchedEvent {
  readonly operationType: string
  /** `db.collection`, or the database; empty: the event has no namespace. */
  readonly ns: string
  /** `_id` and shard key, as extended JSON; empty: the event has none. */
  readonly key: string
  /** Of an update; empty for other events. */
  readonly change: string
  readonly clusterTime: { readonly seconds: number; readonly increment: number }
  /** The event on one line, as extended JSON. */
  readonly json: string
}

/**
 * Resolves at the end of the stream, after `count` events, or when `stop` aborts.
 * @param opened called when the stream is open
 * @throws OptionError for what the server or the driver refuses
 */
export async function watchEvents(
  options: WatchOptions,
  handlers: { readonly stop: AbortSignal; opened(): void; event(event: WatchedEvent): void },
): Promise<void> {
  const { uri, ns, count = Infinity } = options
  if (ns !== null && !/^[^.]+(\..+)?$/.test(ns))
    throw new OptionError(`the namespace is "${ns}"; it must be a database or database.collection, such as app.orders.`)
  let client: MongoClient
  try {
    client = new MongoClient(uri, { ...clientOptions(uri, 1), appName: 'shardlab watch' })
  } catch (error) {
    throw new OptionError(`the connection string is not valid: ${messageOf(error)}`)
  }
  const close = (): void => void client.close()
  handlers.stop.addEventListener('abort', close)
  /** Null: no event has arrived. */
  let last: string | null = null
  let isOpen = false
  try {
    const stream = streamOf(client, options)
    const first = await stream.tryNext()
    isOpen = true
    handlers.opened()
    let seen = 0
    for (let event = first; seen < count; event = null) {
      event ??= await stream.next()
      handlers.event(described(event))
      last = (event._id as { readonly _data: string })._data
      seen++
      if ((event as Document)['operationType'] === 'invalidate') return
    }
  } catch (error) {
    if (handlers.stop.aborted) return
    throw new OptionError(textOf(error, options, { isOpen, last }))
  } finally {
    handlers.stop.removeEventListener('abort', close)
    await client.close()
  }
}

function textOf(
  error: unknown,
  { uri, resumeAfter }: WatchOptions,
  { isOpen, last }: { readonly isOpen: boolean; readonly last: string | null },
): string {
  const text = messageOf(error)
  if (error instanceof MongoServerError) {
    if (resumeAfter !== undefined && !isOpen)
      return `the server refuses the stream that resumes after "${resumeAfter}": ${text}`
    return `the server refuses the stream: ${text}`
  }
  if (!isOpen) return `no server answers at ${uri} (${text}): start one, or correct the URI.`
  const advice = last === null ? 'start it, and watch again' : `start it, and continue with --resume-after ${last}`
  return `the server at ${uri} has ended (${text}): ${advice}.`
}

function streamOf(client: MongoClient, options: WatchOptions): ChangeStream {
  const { ns, fullDocument, showExpandedEvents, resumeAfter } = options
  const given = {
    ...(fullDocument === undefined ? {} : { fullDocument }),
    ...(showExpandedEvents === true ? { showExpandedEvents } : {}),
    ...(resumeAfter === undefined ? {} : { startAfter: { _data: resumeAfter } }),
  }
  if (ns === null) return client.watch([], given)
  const dot = ns.indexOf('.')
  if (dot < 0) return client.db(ns).watch([], given)
  return client
    .db(ns.slice(0, dot))
    .collection(ns.slice(dot + 1))
    .watch([], given)
}

function described(event: Document): WatchedEvent {
  const { operationType, ns, documentKey, updateDescription, clusterTime } = event
  return {
    operationType: operationType as string,
    ns: ns === undefined ? '' : [ns.db, ns.coll].filter((part) => part !== undefined).join('.'),
    key: documentKey === undefined ? '' : BSON.EJSON.stringify(documentKey as Document),
    change: updateDescription === undefined ? '' : BSON.EJSON.stringify(changeOf(updateDescription as Document)),
    clusterTime: { seconds: clusterTime.getHighBitsUnsigned(), increment: clusterTime.getLowBitsUnsigned() },
    json: BSON.EJSON.stringify(event),
  }
}

/** Without its empty parts. */
function changeOf(description: Document): Document {
  return Object.fromEntries(Object.entries(description).filter(([, part]) => Object.keys(part as object).length > 0))
}
