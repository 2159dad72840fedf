import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter, findField } from '@shardlab/bson'
import { listDatabasesSpec, shownDatabases } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { documentsIn } from '../remote/command-reply.js'
import { configCommand } from '../routing/primary.js'
import { isConfigDatabase } from '../routing/route.js'
import { scatter } from '../routing/scatter.js'

const bytesPerMb = 1024 * 1024

export const listDatabases: CommandRow<MongosInvocation> = {
  ...listDatabasesSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D701'],
  summary: 'Lists the databases of all shards with their sizes, and those of the config server.',
  async run(invocation) {
    const { args, host, operation } = invocation
    const isShown = shownDatabases(invocation)
    const members = [...(await host.shards.ids(operation)), configAddress]
    const answers = await scatter(invocation, members, () => configCommand(invocation), true)
    /** Bytes by database and shard. */
    const sizes = new Map<string, Map<string, number>>()
    for (const { member, body, error } of answers) {
      if (error !== null) throw error
      for (const entry of documentsIn(body, 'databases')) {
        const name = findField(entry, 'name')!.asString()
        // Members have a `local` of their own and shards a `config` and `admin`. None of them is
        // the cluster's.
        if (name === 'local' || isConfigDatabase(name) !== (member === configAddress)) continue
        if (!isShown(name)) continue
        let onMembers = sizes.get(name)
        if (onMembers === undefined) sizes.set(name, (onMembers = new Map()))
        onMembers.set(member, findField(entry, 'sizeOnDisk')?.asNumber() ?? 0)
      }
    }
    return writeDatabases(sizes, args.bool('nameOnly') ?? false, host.behaviours.sizesAreNumbers)
  },
}

function writeDatabases(
  sizes: ReadonlyMap<string, ReadonlyMap<string, number>>,
  nameOnly: boolean,
  asNumbers: boolean,
): DocumentWriter {
  const writer = new DocumentWriter(1024).startArray('databases')
  const size = (name: string, bytes: number) =>
    asNumbers ? appendNumber(writer, name, bytes) : writer.int64(name, bytes)
  let totalBytes = 0
  const names = [...sizes.keys()].sort()
  names.forEach((name, i) => {
    writer.startDocument(String(i)).string('name', name)
    if (!nameOnly) {
      const onMembers = sizes.get(name)!
      const sizeBytes = [...onMembers.values()].reduce((sum, bytes) => sum + bytes, 0)
      totalBytes += sizeBytes
      size('sizeOnDisk', sizeBytes)
        .bool('empty', sizeBytes === 0)
        .startDocument('shards')
      for (const [member, bytes] of onMembers) size(member, bytes)
      writer.end()
    }
    writer.end()
  })
  writer.end()
  if (nameOnly) return writer
  size('totalSize', totalBytes)
  return size('totalSizeMb', Math.floor(totalBytes / bytesPerMb))
}

const intLimit = 2 ** 30
const doubleLimit = 2 ** 40

/** Server: BSONObjBuilder::appendNumber(long long) until 4.4. */
function appendNumber(writer: DocumentWriter, name: string, value: number): DocumentWriter {
  if (Math.abs(value) < intLimit) return writer.int32(name, value)
  return Math.abs(value) < doubleLimit ? writer.double(name, value) : writer.int64(name, value)
}
