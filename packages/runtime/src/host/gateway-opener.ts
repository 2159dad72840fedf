import type { Address, LogLevel, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'

/** What a listener calls with a client's request: the actor in the same thread. */
export interface GatewayCallee {
  request<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K>
}

/** A listener of one member. */
export interface OpenedGateway {
  readonly host: string
  /** The bound port. */
  readonly port: number
  /** Orderly: no new connections, what is in flight is answered. */
  close(): Promise<void>
  /** Resets all connections. */
  destroy(): void
}

export interface GatewayRequest {
  /** The member that clients reach there. */
  readonly address: Address
  readonly host: string
  readonly port: number
  readonly target: GatewayCallee
  /** Whether a new client may connect now. */
  readonly accepts: () => boolean
  readonly log: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void
}

/** How a host lets clients in. Rejects when the port cannot be bound. */
export type GatewayOpener = (request: GatewayRequest) => Promise<OpenedGateway>

/** The TCP gateway, evaluated only by a host that listens. */
export const openTcpGateway: GatewayOpener = async (request) => {
  const { openGateway } = await import('../gateway/index.js')
  return openGateway(request)
}
