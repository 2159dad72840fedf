/** Serves requests of a member to the API, in a process that has only this member. */
import type { Actor, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import { isReservedAddress } from '@shardlab/actor'
import type { ProcessLinks } from '@shardlab/runtime'
import { outsideActor, type ClusterParts } from '../outside-actor.js'

/** @param links null: the server is part of no cluster */
export function outsideServer(parts: () => ClusterParts, links: ProcessLinks | null): Actor {
  const actor = outsideActor(parts)
  if (links === null) return actor
  return {
    receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: string): Promise<ReplyOf<K>> | ReplyOf<K> {
      if (kind === 'cluster.member-at')
        return { set: setAt(links, (request as RequestOf<'cluster.member-at'>).host) } as ReplyOf<K>
      if (kind === 'cluster.name-member')
        return { isFree: nameMember(links, request as RequestOf<'cluster.name-member'>) } as ReplyOf<K>
      return actor.receive(kind, request, from)
    },
  }
}

function setAt({ directory }: ProcessLinks, host: string): string | null {
  const [address] = directory.resolve(host)
  return address === undefined ? null : (directory.setOf(address) ?? address)
}

function nameMember(links: ProcessLinks, { member, name }: RequestOf<'cluster.name-member'>): boolean {
  if (isReservedAddress(name) || links.directory.isProper(name)) return false
  // A shard of which this process knows no member cannot be reached, named or not.
  if (links.directory.resolve(member).length === 0) return true
  links.directory.name(member, name)
  links.announce()
  return true
}
