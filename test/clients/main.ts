/** `npm run clients`: every client that is installed runs its script against a cluster. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ShardedCluster } from 'shardlab'
import { withRoot } from '../support/with-root.js'
import { clients, type Client } from './clients.js'

const help = `Runs a script of inserts, queries, updates, cursors and indexes in each installed client.

  npm run clients -- [options] [part of a name …]

  --uri URI       the cluster, with all its routers; default: starts one with two routers and a user
  --no-install    does not install missing clients from npm and Debian
  --json          prints only [{"client","result","why"}]; result is passed, failed or skipped
  --help          this text

Exit code 0: no client failed; 1: a client failed; 2: wrong options.

Examples:
  npm run clients
  npm run clients -- pymongo "node.js driver"
  npm run clients -- --uri mongodb://127.0.0.1:27017/ --json
`

interface Row {
  readonly client: string
  readonly result: 'passed' | 'failed' | 'skipped'
  readonly why?: string
}

function fail(message: string): never {
  process.stderr.write(`clients: ${message}\n`)
  process.exit(2)
}

function options() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        uri: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        // For the script that installs clients and runs before this program.
        'no-install': { type: 'boolean' },
      },
    })
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)} (run with --help for the options)`)
  }
}

const { values, positionals } = options()
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}
const chosen = clients.filter(
  ({ name }) => positionals.length === 0 || positionals.some((part) => name.toLowerCase().includes(part.toLowerCase())),
)
if (chosen.length === 0)
  fail(`no client matches ${positionals.join(', ')}; the clients are ${clients.map(({ name }) => name).join(', ')}`)

const cluster = values.uri === undefined ? await startCluster() : undefined
const started = cluster === undefined ? undefined : await withRoot(cluster.uri)
const rows: Row[] = []
try {
  for (const client of chosen) {
    const row = await rowOf(client, values.uri ?? started!)
    rows.push(row)
    if (!values.json)
      process.stdout.write(`${row.client.padEnd(24)} ${row.result}${row.why === undefined ? '' : `: ${row.why}`}\n`)
  }
} finally {
  await cluster?.stop()
}
if (values.json) process.stdout.write(`${JSON.stringify(rows)}\n`)
process.exitCode = rows.some(({ result }) => result === 'failed') ? 1 : 0

async function startCluster(): Promise<ShardedCluster> {
  const { ShardedCluster } = await import('shardlab')
  return ShardedCluster.start({ mongos: 2, auth: true })
}

async function rowOf(client: Client, uri: string): Promise<Row> {
  if (client.needsUser === true && !uri.includes('@'))
    return { client: client.name, result: 'skipped', why: 'the URI has no user' }
  const missing = await client.missing()
  if (missing !== null) return { client: client.name, result: 'skipped', why: missing }
  const workFolder = mkdtempSync(join(tmpdir(), 'shardlab-client-'))
  try {
    const { code, stdout, stderr } = await client.run({ uri, database: databaseOf(client), workFolder })
    if (code === 0 && stdout.trim().endsWith('fine')) return { client: client.name, result: 'passed' }
    return { client: client.name, result: 'failed', why: `code ${code}: ${(stderr || stdout).trim().slice(-1500)}` }
  } finally {
    rmSync(workFolder, { recursive: true, force: true })
  }
}

function databaseOf({ name }: Client): string {
  return `clients_${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`
}
