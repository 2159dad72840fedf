/**
 * `npm run clients [-- options] [part of a name …]`: installs clients and runs each; --help lists
 * the options.
 */
import { main, run } from './lib/processes.mjs'
import { runProgram } from './lib/program.mjs'

await main(async (args) => {
  const installs = !args.some((arg) => arg === '--no-install' || arg === '--help')
  if (installs) await run('bash', ['scripts/install-clients.sh', '--all'], { onLine: () => {} })
  await runProgram('test/dist/clients/main.js', args)
})
