/**
 * Prepares indexes over as many turns as it takes. Clients read and write the collection meanwhile.
 * Server: index_builds_coordinator.cpp.
 */
import { uuidV4 } from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { uuidText } from '@shardlab/member'
import type { Collection, IndexBuild } from '@shardlab/storage'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { inTurns, type SteppedWork } from '../read/in-turns.js'

/**
 * Close the builds when the indexes are created.
 * @throws CommandError 11000 DuplicateKey and the errors of index keys, 50 MaxTimeMSExpired, the
 *   error with which the operation was killed; all builds are closed then
 */
export async function startBuilds(
  { host, operation }: NodeInvocation,
  collection: Collection,
  specs: readonly Uint8Array[],
): Promise<readonly IndexBuild[]> {
  const builds = specs.map((spec) => collection.startIndexBuild(spec, host.context.now()))
  try {
    await inTurns(host, operation, stepsOf(host, collection, builds))
    return builds
  } catch (error) {
    for (const build of builds) build.close()
    throw error
  }
}

function* stepsOf(host: NodeHost, collection: Collection, builds: readonly IndexBuild[]): SteppedWork<void> {
  let worked: number
  do {
    worked = 0
    for (const build of builds) {
      if (!isSame(collection, host.collection(collection.ns)))
        throw buildFailed(host, collection, new CommandError('IndexBuildAborted', 'collection dropped'))
      try {
        worked += build.step()
      } catch (error) {
        throw buildFailed(host, collection, error)
      }
    }
    if (worked > 0) yield worked
  } while (worked > 0)
}

export function isSame({ uuid }: Collection, live: Collection | undefined): boolean {
  return live !== undefined && sameBytes(live.uuid, uuid)
}

export function buildFailed({ behaviours, context }: NodeHost, { ns, uuid }: Collection, error: unknown): unknown {
  if (!(error instanceof CommandError) || !behaviours.indexBuildErrorsNameBuild) return error
  return new CommandError(
    error.code,
    `Index build failed: ${uuidText(uuidV4(context.random))}: Collection ${ns} ( ${uuidText(uuid)} ) :: caused by :: ${error.message}`,
    { extra: error.extra },
  )
}
