import { uuidV4, type CommandArguments, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, stringValue, type RawValue } from '@shardlab/bson'
import { prepareIndex, withoutUnknownOptions, type Collection } from '@shardlab/storage'
import { uuidText, createIndexesSpec, membersMax } from '@shardlab/member'
import { checkCollectionUuid } from '../ddl/collection-uuid.js'
import { withoutClusteredOption } from '../ddl/clustered-index.js'
import { buildIndex, dropIndex } from '../ddl/index-specs.js'
import { createCollection } from '../ddl/namespace.js'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { viewOf } from '../views/view-catalog.js'

export const createIndexes: CommandRow<NodeInvocation> = {
  ...createIndexesSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D608'],
  missing: 'text, geospatial and compound wildcard indexes',
  summary: 'Builds indexes.',
  async run(invocation) {
    invocation.host.requireRoom()
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const specs = args.documents('indexes')!
    const asked =
      args.bool('ignoreUnknownIndexOptions') === true
        ? specs.map((spec) => withoutUnknownOptions(spec, host.behaviours.language))
        : specs
    if (asked.length === 0) throw new CommandError('BadValue', 'Must specify at least one index to create')
    const quorum = commitQuorumOf(args, host)
    const access = await host.role.enter(ns, invocation)
    checkCollectionUuid(host, ns, args)
    const before = host.collection(ns)
    if (before === undefined && viewOf(host, ns) !== null)
      throw new CommandError('CommandNotSupportedOnView', 'Cannot create indexes on a view')
    // Check all specifications before creating the collection or building an index.
    const prepared: Uint8Array[] = []
    for (const spec of asked) {
      const checked = withoutClusteredOption(spec, before)
      const known = {
        ns,
        defaultCollation: before?.defaultCollation ?? null,
        indexes: () => [...(before?.indexes() ?? []), ...prepared.map((each) => ({ spec: each }))],
      }
      const { language, partialFilterOrAndIn, defaultIndexVersion: defaultVersion } = host.behaviours
      const index = prepareIndex(known, checked, { language, partialFilterOrAndIn, defaultVersion })
      if (index !== null) prepared.push(index)
    }
    if (prepared.length > 0) host.role.checkDefinitionChange?.(ns)
    for (const spec of prepared) host.role.indexRules?.checkNewIndex(access, ns, spec)
    let collection = before
    if (collection === undefined) {
      host.role.checkImplicitCreate(ns, invocation)
      collection = createCollection(host, ns, new DocumentWriter(16).finish())
    }
    const countBefore = before === undefined ? 1 : before.indexes().length
    buildAllOrNone(host, collection, prepared)
    await host.flush()
    const countAfter = host.collection(ns)!.indexes().length
    const writer = new DocumentWriter(256).int32('numIndexesBefore', countBefore).int32('numIndexesAfter', countAfter)
    const allExisted = countAfter === countBefore
    if (!allExisted) writer.bool('createdCollectionAutomatically', before === undefined)
    if (allExisted) return writer.string('note', 'all indexes already exist')
    return quorum === null ? writer : writer.value('commitQuorum', quorum)
  },
}

/** Default commit quorum. */
const votingMembers = stringValue('votingMembers')

/**
 * Checked against a replica set of one member; null in versions without the argument. Server:
 * commit_quorum_options.cpp, `checkIfCommitQuorumCanBeSatisfied`.
 * @throws CommandError 9 FailedToParse, 278 UnsatisfiableCommitQuorum, 79 UnknownReplWriteConcern
 */
function commitQuorumOf(args: CommandArguments, { behaviours }: NodeHost): RawValue | null {
  if (!behaviours.indexCommitQuorum) return null
  const quorum = args.value('commitQuorum')
  if (quorum === undefined) return votingMembers
  if (quorum.isNumber()) {
    const count = Math.trunc(quorum.asNumber())
    if (!(count >= 0 && count <= membersMax))
      throw new CommandError(
        'FailedToParse',
        `commitQuorum has to be a non-negative number and not greater than ${membersMax}`,
      )
    if (count > 1)
      throw new CommandError(
        'UnsatisfiableCommitQuorum',
        'Commit quorum cannot be satisfied with the current replica set configuration',
      )
    return quorum
  }
  if (quorum.type !== BsonType.string)
    throw new CommandError('FailedToParse', 'commitQuorum has to be a number or a string')
  const mode = quorum.asString()
  if (mode !== 'majority' && mode !== 'votingMembers')
    throw new CommandError(
      'UnknownReplWriteConcern',
      `No write concern mode named '${mode}' found in replica set configuration`,
    )
  return quorum
}

function buildAllOrNone(host: NodeHost, collection: Collection, specs: readonly Uint8Array[]): void {
  const built: Uint8Array[] = []
  try {
    for (const spec of specs) {
      buildIndex(host, collection, spec)
      built.push(spec)
    }
  } catch (error) {
    for (const spec of built.reverse()) dropIndex(host, collection, findField(spec, 'name')!.asString())
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(
      error.code,
      `Index build failed: ${uuidText(uuidV4(host.context.random))}: Collection ${collection.ns} ( ${uuidText(collection.uuid)} ) :: caused by :: ${error.message}`,
      { extra: error.extra },
    )
  }
}
