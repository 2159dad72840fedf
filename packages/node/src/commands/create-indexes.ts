import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, stringValue, type RawValue } from '@shardlab/bson'
import { prepareIndex, withoutUnknownOptions, type Collection } from '@shardlab/storage'
import { createIndexesSpec, membersMax } from '@shardlab/member'
import { checkCollectionUuid } from '../ddl/collection-uuid.js'
import { withoutClusteredOption } from '../ddl/clustered-index.js'
import { buildFailed, isSame, startBuilds } from '../ddl/build-in-turns.js'
import { buildIndex, dropIndex } from '../ddl/index-specs.js'
import { refuseCatalogIndex } from '../ddl/catalog-collections.js'
import { createCollection } from '../ddl/namespace.js'
import { refuseOplogWrite } from '../ddl/refuse-oplog.js'
import type { Access, NodeHost, NodeInvocation } from '../host/node-host.js'
import { viewOf } from '../views/view-catalog.js'

export const createIndexes: CommandRow<NodeInvocation> = {
  ...createIndexesSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D404', 'D608'],
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
    let admitted = admit(invocation, ns, asked, await host.role.enter(ns, invocation))
    const before = admitted.collection
    const builds = before === undefined ? [] : await startBuilds(invocation, before, admitted.specs)
    try {
      if (builds.length > 0) {
        // Other commands may have changed the collection and its placement.
        admitted = admit(invocation, ns, asked, await host.role.enter(ns, invocation))
        if (!isSame(before!, admitted.collection))
          throw buildFailed(host, before!, new CommandError('IndexBuildAborted', 'collection dropped'))
      }
      buildAllOrNone(host, admitted.collection ?? createImplicitly(invocation, ns), admitted.specs)
    } finally {
      for (const build of builds) build.close()
    }
    await host.flush()
    const countBefore = admitted.collection === undefined ? 1 : admitted.indexCount
    const countAfter = host.collection(ns)!.indexes().length
    const writer = new DocumentWriter(256).int32('numIndexesBefore', countBefore).int32('numIndexesAfter', countAfter)
    const allExisted = countAfter === countBefore
    if (!allExisted) writer.bool('createdCollectionAutomatically', admitted.collection === undefined)
    if (allExisted) return writer.string('note', 'all indexes already exist')
    return quorum === null ? writer : writer.value('commitQuorum', quorum)
  },
}

interface Admitted {
  /** undefined: it does not exist */
  readonly collection: Collection | undefined
  readonly indexCount: number
  /** Complete, of the indexes that do not exist. */
  readonly specs: readonly Uint8Array[]
}

/**
 * Checks all specifications before an index is built. Await nothing between this and a change.
 * @throws CommandError those of the role and of {@link prepareIndex}
 */
function admit(invocation: NodeInvocation, ns: string, asked: readonly Uint8Array[], access: Access): Admitted {
  const { host, args } = invocation
  checkCollectionUuid(host, ns, args)
  const collection = host.collection(ns)
  refuseCatalogIndex(host, ns)
  refuseOplogWrite(ns)
  if (collection === undefined && viewOf(host, ns) !== null)
    throw new CommandError('CommandNotSupportedOnView', 'Cannot create indexes on a view')
  const specs: Uint8Array[] = []
  for (const spec of asked) {
    const checked = withoutClusteredOption(spec, collection)
    const known = {
      ns,
      defaultCollation: collection?.defaultCollation ?? null,
      indexes: () => [...(collection?.indexes() ?? []), ...specs.map((each) => ({ spec: each }))],
    }
    const { language, partialFilterOrAndIn, defaultIndexVersion: defaultVersion } = host.behaviours
    const index = prepareIndex(known, checked, { language, partialFilterOrAndIn, defaultVersion })
    if (index !== null) specs.push(index)
  }
  if (specs.length > 0) host.role.checkDefinitionChange?.(ns)
  for (const spec of specs) host.role.indexRules?.checkNewIndex(access, ns, spec)
  return { collection, indexCount: collection?.indexes().length ?? 0, specs }
}

function createImplicitly(invocation: NodeInvocation, ns: string): Collection {
  invocation.host.role.checkImplicitCreate(ns, invocation)
  return createCollection(invocation.host, ns, new DocumentWriter(16).finish())
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
    throw buildFailed(host, collection, error)
  }
}
