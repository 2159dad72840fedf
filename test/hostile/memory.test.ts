/**
 * A million hostile messages leave the server's memory as it was. The server has a process of its
 * own. SHARDLAB_SEED=7 runs that seed.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { attack } from './campaign.js'
import { dataOf, prepare } from './data.js'
import type { ServerMessage } from './server.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const seed = SHARDLAB_SEED ?? String(Math.floor(Math.random() * 2 ** 31))
const total = Number(process.env['HOSTILE_TOTAL'] ?? 1_000_000)
const growthMaxBytes = 32 * 1024 * 1024
const longOnly = SHARDLAB_LONG === '1' ? false : 'takes minutes: npm run test:long -- hostile/'

async function received<K extends string>(server: ChildProcess): Promise<Extract<ServerMessage, Record<K, unknown>>> {
  const [message] = (await once(server, 'message')) as [ServerMessage]
  return message as Extract<ServerMessage, Record<K, unknown>>
}

async function rssBytesOf(server: ChildProcess): Promise<number> {
  server.send('memory')
  return (await received<'rssBytes'>(server)).rssBytes
}

t.setTimeout(3_600_000)

t.test(
  `${total} hostile messages leave the memory within 32 MB (again: SHARDLAB_SEED=${seed})`,
  { skip: longOnly, timeout: 3_600_000 },
  async (t) => {
    const server = fork(fileURLToPath(new URL('./server.js', import.meta.url)), [], { execArgv: ['--expose-gc'] })
    t.teardown(() => server.kill())
    const { uri, endpoints } = await received<'uri'>(server)
    await prepare(uri)
    const before = await dataOf(uri)
    const startBytes = await rssBytesOf(server)
    const { sent, findings } = await attack({ endpoints, seed, total })
    for (const finding of findings) t.fail(finding)
    t.ok(sent >= total, `${sent} messages`)
    t.strictSame(await dataOf(uri), before, 'no data have changed')
    let grownBytes = (await rssBytesOf(server)) - startBytes
    // V8 shrinks the space of new objects once the process is idle.
    for (let tries = 0; grownBytes >= growthMaxBytes && tries < 20; tries++) {
      await sleep(500)
      grownBytes = (await rssBytesOf(server)) - startBytes
    }
    t.ok(grownBytes < growthMaxBytes, `resident memory grew by ${Math.round(grownBytes / 2 ** 20)} MB`)
  },
)
