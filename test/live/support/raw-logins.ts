/** Logins message by message. */
import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import type { Test } from 'tap'
import { RawClient } from '../../support/raw-client.js'
import { binary, ScramClient, textOf, type ScramLogin } from '../../support/scram-client.js'
import { Deployment } from './deployment.js'

/** A standalone mongod with access control; each call opens a connection. */
export async function connections(t: Test, emulate: EmulatedVersion): Promise<() => Promise<RawClient>> {
  const { cluster } = await Deployment.start(t, { topology: 'standalone', emulate })
  const endpoint = cluster.uri.replace(/^mongodb:\/\//, '').replace(/[/,].*$/, '')
  return async () => {
    const client = await RawClient.connect(endpoint)
    t.teardown(() => client.close())
    return client
  }
}

export const createRoot = (more: Document = {}): Document => ({
  createUser: 'root',
  pwd: 'secret',
  roles: ['root'],
  ...more,
  $db: 'admin',
})
export const root = { user: 'root', password: 'secret' }

/** `saslStart`; fields that are given replace others. */
export const start = (payload: unknown, more: Document = {}): Document => ({
  saslStart: 1,
  mechanism: 'SCRAM-SHA-1',
  payload: typeof payload === 'string' ? binary(payload) : payload,
  $db: 'admin',
  ...more,
})

export const next = (payload: unknown, more: Document = {}): Document => ({
  saslContinue: 1,
  conversationId: 1,
  payload: typeof payload === 'string' ? binary(payload) : payload,
  $db: 'admin',
  ...more,
})

/** A login whose proof has not been sent. */
export async function begun(
  client: RawClient,
  login: ScramLogin = { ...root, mechanism: 'SCRAM-SHA-1' },
  more: Document = {},
): Promise<{ scram: ScramClient; final: string }> {
  const scram = new ScramClient(login)
  const reply = await client.command(start(scram.first, { mechanism: scram.mechanism, ...more }))
  return { scram, final: scram.final(textOf(reply['payload'])) }
}

export async function usersOf(client: RawClient): Promise<readonly Document[]> {
  const { authInfo } = await client.command({ connectionStatus: 1, $db: 'admin' })
  return (authInfo as Document)['authenticatedUsers'] as Document[]
}
