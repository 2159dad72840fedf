import {
  clusterAddress,
  isReservedAddress,
  UnservedMessageError,
  type Actor,
  type Address,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import type { Runtime } from '@shardlab/runtime'
import { replyOf } from './answer-command.js'
import { copyVerbs, type WireCopies } from './copies/wire-copies.js'
import { answerAboutFaults } from './faults/answer-about-faults.js'
import type { Faults } from './faults/faults.js'
import type { ReadCluster } from './live/asked-shards.js'
import { eventVerbs, type LiveStream } from './live/live-stream.js'
import { OptionError } from './option-error.js'
import type { ResolvedOptions } from './resolved-options.js'
import { answerAboutRollbackFiles, rollbackFileVerbs } from './rollback-files.js'
import { answerAboutMembership, membershipVerbs } from './sets/membership.js'
import { clientRoles } from './storage-roles.js'

export interface ClusterParts {
  readonly runtime: Runtime
  readonly faults: Faults
  /** null: each member is a process of its own. */
  readonly options: ResolvedOptions | null
  /** null: a simulated cluster, which cannot be copied. */
  readonly copies: WireCopies | null
  /** null: a simulated cluster, or one of which this process runs one member. */
  readonly live: LiveStream | null
}

type Served = 'cluster.command' | 'cluster.member-at' | 'cluster.name-member'

const handlers: {
  readonly [K in Served]: (parts: ClusterParts, request: RequestOf<K>, from: Address) => Promise<ReplyOf<K>>
} = {
  'cluster.command': (parts, request, from) => {
    const { runtime, faults, copies, options, live } = parts
    if (eventVerbs.has(request.verb)) return live === null ? replyOf(refuseEvents) : live.answer(request)
    if (membershipVerbs.has(request.verb))
      return options === null
        ? replyOf(refuseMembership)
        : answerAboutMembership({ runtime, faults, options }, request, from)
    const reader = readers.get(request.verb)
    if (reader !== undefined) return reader({ runtime, topology: options?.topology ?? 'standalone' }, request)
    if (rollbackFileVerbs.has(request.verb)) return answerAboutRollbackFiles(runtime, request)
    if (!copyVerbs.has(request.verb)) return answerAboutFaults(faults, request, from)
    return copies === null ? replyOf(refuseToCopy) : copies.answer(request)
  },
  'cluster.member-at': async ({ runtime }, { host }) => ({ set: setAt(runtime, host) }),
  'cluster.name-member': ({ runtime }, request) => nameMember(runtime, request),
}

/** Serves requests of members to the API. `parts` is called with the first request. */
export function outsideActor(parts: () => ClusterParts): Actor {
  return {
    async receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> {
      const handler = (handlers as Partial<Record<MessageKind, unknown>>)[kind] as
        | ((parts: ClusterParts, request: RequestOf<K>, from: Address) => Promise<ReplyOf<K>>)
        | undefined
      if (handler === undefined) throw new UnservedMessageError(clusterAddress, kind)
      return handler(parts(), request, from)
    },
  }
}

type Reader = (cluster: ReadCluster, request: RequestOf<'cluster.command'>) => Promise<ReplyOf<'cluster.command'>>

/** Loaded on demand: only dashboards ask for them. */
const readers = new Map<string, Reader>([
  ['documents', async (...asked) => (await import('./live/documents-by-shard.js')).answerAboutDocuments(...asked)],
  ['chunkSizes', async (...asked) => (await import('./live/chunk-sizes.js')).answerAboutChunkSizes(...asked)],
])

async function refuseMembership(): Promise<never> {
  throw new OptionError('each member is a process of its own here: start or end one.')
}

async function refuseEvents(): Promise<never> {
  throw new OptionError('only a process that runs all members of a live cluster has their events.')
}

async function refuseToCopy(): Promise<never> {
  throw new OptionError('a simulated cluster cannot be copied.')
}

function setAt(runtime: Runtime, host: string): string | null {
  const member = runtime
    .members()
    .find(({ endpoint, state, role }) => state === 'running' && clientRoles.has(role) && listensAt(endpoint, host))
  return member?.set ?? null
}

/** Most machines resolve localhost to the address that members listen on by default. */
function listensAt(endpoint: string, host: string): boolean {
  return host === endpoint || host.replace(/^localhost:/, '127.0.0.1:') === endpoint
}

async function nameMember(
  runtime: Runtime,
  { member, name }: RequestOf<'cluster.name-member'>,
): Promise<ReplyOf<'cluster.name-member'>> {
  const isTaken = runtime.members().some(({ address, set }) => address === name || set === name)
  if (isReservedAddress(name) || isTaken) return { isFree: false }
  await runtime.name(member, name)
  return { isFree: true }
}
