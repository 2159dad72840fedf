/** Where other machines can open a dashboard: only by TLS, and with a login. */
import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectByTls } from 'node:tls'
import { MongoClient } from 'mongodb'
import t from 'tap'
import { ShardedCluster } from 'shardlab'
import { pem } from '../live/tls/certificates.js'
import { driverOptions } from '../live/tls/clients.js'
import { onPage, options } from './support/dashboard-page.js'

const base = { topology: 'standalone', runtime: 'inline', dashboard: true } as const

/** The serial number of the certificate on this port. */
async function serialOn(port: number): Promise<string> {
  const socket = connectByTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

t.test('with users and TLS the page listens where the cluster does', options, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'shardlab-dashboard-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const certificateKeyFile = join(directory, 'server.pem')
  await copyFile(pem('server'), certificateKeyFile)
  const tls = { mode: 'requireTLS', certificateKeyFile } as const
  const cluster = await ShardedCluster.start({ ...base, tls, auth: true, host: '0.0.0.0' })
  t.teardown(() => cluster.stop())
  const { hostname: name, port, protocol } = new URL(cluster.dashboard!)
  t.same([protocol, name], ['https:', hostname().toLowerCase()])

  const client = await MongoClient.connect(
    cluster.uri.replace(hostname(), '127.0.0.1'),
    driverOptions({ ca: pem('ca') }),
  )
  await client.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
  await client.close()
  await onPage(t, `https://127.0.0.1:${port}/`, async (page) => {
    await page.locator('input[name=user]').fill('root')
    await page.locator('input[name=password]').fill('secret')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.locator('[data-state=running]').first().waitFor()
  })

  const plain = connect(Number(port), '127.0.0.1')
  plain.on('error', () => {})
  plain.end('GET / HTTP/1.1\r\n\r\n')
  await once(plain, 'close')
  const before = await serialOn(Number(port))
  await copyFile(pem('server-2'), certificateKeyFile)
  t.not(await serialOn(Number(port)), before, 'a renewed certificate is used at once')
  await copyFile(pem('ca'), certificateKeyFile)
  t.not(await serialOn(Number(port)), before, 'files without a key leave the last one')
})

t.test('without users, TLS, or another host only this machine can open the page', async (t) => {
  const tls = { mode: 'requireTLS', certificateKeyFile: pem('server') } as const
  for (const others of [
    { host: '0.0.0.0', auth: true },
    { host: '0.0.0.0', tls, insecure: true },
    { tls, auth: true },
  ]) {
    const cluster = await ShardedCluster.start({ ...base, ...others })
    t.match(cluster.dashboard, /^http:\/\/127\.0\.0\.1:\d+\/$/, JSON.stringify(Object.keys(others)))
    await cluster.stop()
  }
})
