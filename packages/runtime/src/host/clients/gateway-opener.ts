import type { Address, LogLevel, TlsState } from '@shardlab/actor'
import type { TlsSettings } from '../../gateway/tls/tls-settings.js'
import type { GatewayTarget } from './gateway-target.js'

export interface OpenedGateway {
  readonly host: string
  readonly port: number
  readonly tls: TlsState | null
  /** Accepts no new connections and answers the running commands. */
  close(): Promise<void>
  destroy(): void
}

export interface GatewayRequest {
  readonly address: Address
  readonly host: string
  readonly port: number
  readonly tls?: TlsSettings
  readonly target: GatewayTarget
  /** See `OutboxOptions.atEndOfTurn`. */
  readonly atEndOfTurn: (flush: () => void) => void
  readonly accepts: () => boolean
  readonly log: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void
}

/** Rejects when the port cannot be bound. */
export type GatewayOpener = (request: GatewayRequest) => Promise<OpenedGateway>

/** Imports the gateway on first use: a host without clients never evaluates it. */
export const openTcpGateway: GatewayOpener = async (request) => {
  const { openGateway } = await import('../../gateway/index.js')
  return openGateway(request)
}
