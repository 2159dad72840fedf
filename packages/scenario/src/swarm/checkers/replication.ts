/**
 * Replication: members of a set that have applied the same newest entry hold the same data and
 * catalog, and their oplogs are equal where they overlap.
 */
import type { SimulatedCluster } from '@shardlab/cluster'
import { documentsOf, encode, findField, findPath, toExtendedJson, type Document } from '@shardlab/bson'
import { finding, type Finding } from '../finding.js'
import type { MemberView } from '../../sets/replica-sets.js'
import type { SwarmWorld } from '../world.js'

interface Content {
  readonly member: string
  /** Databases, collections, indexes and documents, one in each line. */
  readonly lines: readonly string[]
  readonly oplog: readonly string[]
}

const everything = 1_000_000
const connectionId = 1
const $readPreference = { mode: 'secondaryPreferred' }

/** Reads a member without the network. */
type Reader = Pick<SimulatedCluster, 'peek'>

/** At this moment; time passes only while a member with much data gives up its turn. */
export async function replicationViolations({ sets, cluster, direct }: SwarmWorld): Promise<Finding[]> {
  const found: Finding[] = []
  for (const set of sets.names)
    for (const equal of groups(await sets.viewsOf(set))) {
      for (const member of equal) await direct.logInUnseen(connectionId, member)
      found.push(...(await memberDifferences(cluster, set, equal)))
    }
  return found
}

/** @param members that have applied the same newest entry */
export async function memberDifferences(reader: Reader, set: string, members: readonly string[]): Promise<Finding[]> {
  const contents: Content[] = []
  for (const member of members) contents.push(await contentOf(reader, member))
  const [first, ...others] = contents
  return others.flatMap((other) => differences(set, first!, other))
}

function groups(views: readonly MemberView[]): string[][] {
  const byPosition = new Map<string, string[]>()
  for (const { address, state, lastApplied } of views) {
    if (state !== 'PRIMARY' && state !== 'SECONDARY') continue
    const key = String(lastApplied)
    byPosition.set(key, [...(byPosition.get(key) ?? []), address])
  }
  return [...byPosition.values()]
}

async function contentOf(reader: Reader, member: string): Promise<Content> {
  const ask = async (command: Document): Promise<Uint8Array> => {
    const body = encode({ ...command, $readPreference })
    const request = { connectionId, body, sequences: [], legacy: false, remote: 'checker' }
    const reply = (await reader.peek(member, 'client.command', request)).body
    if (findField(reply, 'ok')?.isTruthy() !== true)
      throw new Error(`${member} refuses ${JSON.stringify(command)}: ${toExtendedJson(reply)}`)
    return reply
  }
  const all = async (command: Document): Promise<Uint8Array[]> =>
    documentsOf(findPath(await ask(command), 'cursor.firstBatch')!)
  const lines: string[] = []
  const databases = documentsOf(findField(await ask({ listDatabases: 1, nameOnly: true, $db: 'admin' }), 'databases')!)
  for (const $db of databases.map(nameOf).toSorted()) {
    if ($db === 'local') continue
    const collections = await all({ listCollections: 1, cursor: { batchSize: everything }, $db })
    for (const collection of collections) {
      const name = nameOf(collection)
      lines.push(`${$db}.${name}: ${textOf(collection)}`)
      if (findField(collection, 'type')?.asString() === 'view') continue
      const indexes = await all({ listIndexes: name, cursor: { batchSize: everything }, $db })
      lines.push(`${$db}.${name} has the indexes ${indexes.map(textOf).toSorted().join()}`)
      const documents = await all({ find: name, batchSize: everything, $db })
      lines.push(...documents.map((document) => `${$db}.${name} holds ${textOf(document)}`))
    }
  }
  const oplog = await all({ find: 'oplog.rs', batchSize: everything, $db: 'local' })
  return { member, lines, oplog: oplog.map(textOf) }
}

const textOf = (document: Uint8Array): string => toExtendedJson(document, { canonical: true })

const nameOf = (document: Uint8Array): string => findField(document, 'name')!.asString()

function differences(set: string, one: Content, other: Content): Finding[] {
  const [onlyOne, onlyOther] = [missing(one.lines, other.lines), missing(other.lines, one.lines)]
  const wrong: Finding[] = []
  if (onlyOne !== null || onlyOther !== null) {
    const ns = /^([^ :]+)[: ]/.exec(onlyOne ?? onlyOther!)?.[1] ?? null
    wrong.push(
      finding(
        `members of ${set} at the same entry differ: ${one.member} has ${onlyOne ?? 'nothing else'}; ${other.member} has ${onlyOther ?? 'nothing else'}`,
        ns,
      ),
    )
  }
  const entry = differentEntry(one.oplog, other.oplog)
  if (entry !== null) wrong.push(finding(`the oplogs of ${one.member} and ${other.member} differ: ${entry}`, null))
  return wrong
}

/** The first line of `lines` that is not in `others`. */
function missing(lines: readonly string[], others: readonly string[]): string | null {
  const known = new Set(others)
  return lines.find((line) => !known.has(line)) ?? null
}

/** Both end with the same entry, so the longer one has older entries besides. */
function differentEntry(one: Content['oplog'], other: Content['oplog']): string | null {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one]
  const start = longer.length - shorter.length
  const at = shorter.findIndex((text, i) => text !== longer[start + i])
  return at < 0 ? null : `${shorter[at]} and ${longer[start + at]}`
}
