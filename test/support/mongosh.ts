/** The mongosh of test/clients, without the settings of the user who runs the tests. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './up.js'

const mongosh = fileURLToPath(new URL('../../clients/node_modules/.bin/mongosh', import.meta.url))

/** Evaluates code in a new shell. */
export type Evaluate = (code: string) => ReturnType<typeof run>

/** null: mongosh is not installed. */
export function mongoshOn(uri: string): Evaluate | null {
  if (!existsSync(mongosh)) return null
  const home = mkdtempSync(join(tmpdir(), 'shardlab-mongosh-'))
  const config = join(home, 'mongosh.conf')
  writeFileSync(config, 'mongosh:\n  enableTelemetry: false\n  updateURL: ""\n')
  const env = { ...process.env, HOME: home, MONGOSH_GLOBAL_CONFIG_FILE_FOR_TESTING: config }
  return (code) => run(mongosh, [uri, '--quiet', '--eval', code], { env })
}
