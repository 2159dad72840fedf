/** `npm run build`: installs what is missing and builds every workspace. */
import { ensureBuilt } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { main } from './lib/processes.mjs'

await main(async () => {
  await ensureInstalled()
  await ensureBuilt()
})
