import { encode, toExtendedJson, type Document } from '@shardlab/bson'

/** Fields that say nothing about a failure. */
const noise: ReadonlySet<string> = new Set([
  '$db',
  '$clusterTime',
  'lsid',
  'operationTime',
  'electionId',
  'opTime',
  'topologyVersion',
])
const textMax = 240

/** A command or reply for people. */
export function textOf(document: Document): string {
  const telling = Object.entries(document).filter(([name]) => !noise.has(name))
  const text = toExtendedJson(encode(Object.fromEntries(telling)))
  return text.length > textMax ? `${text.slice(0, textMax - 1)}…` : text
}

/** Collections and databases that a command names. */
export function namespacesOf(command: Document): string[] {
  const db = command['$db'] as string
  const [name, first] = Object.entries<unknown>(command)[0] ?? []
  const collection = name === 'getMore' ? command['collection'] : first
  if (typeof collection !== 'string') return [db]
  const ns = collection.includes('.') || db === 'admin' ? collection : `${db}.${collection}`
  return name === 'renameCollection' ? [ns, command['to'] as string] : [ns]
}
