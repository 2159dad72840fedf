/**
 * `npm run pictures`: plays the scenario and the load test that the README shows, and takes
 * pictures of their reports, and of the dashboard of a running cluster.
 *
 * Writes simulation-report.png, load-report.png and dashboard.png into docs/images; `npm run
 * pictures -- dashboard` writes this one alone. It needs a Chromium:
 * CHROMIUM names its executable, default /usr/bin/chromium.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { takeDashboardPicture } from './lib/dashboard-picture.mjs'
import { ensureBuilt } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { main, run, ScriptError } from './lib/processes.mjs'
import { root } from './lib/workspace.mjs'

const widthPixels = 1100

/**
 * For each picture the arguments with which `shardlab` writes the report to FILE, the element at
 * its upper edge (null: the top of the page), and its height.
 */
const pictures = [
  {
    name: 'simulation-report',
    args: ['simulate', 'hot-monotonic-key', '--report', 'FILE'],
    from: 'figure',
    heightPixels: 1000,
  },
  {
    name: 'load-report',
    args: [
      'load',
      '--up',
      '--shards 4',
      '--workload',
      'route-mix',
      '--rate',
      '300',
      '--duration',
      '20s',
      '--quiet',
    ].concat(['--fault', 'crash shard02 at 8s for 4s', '--html', 'FILE']),
    from: null,
    heightPixels: 1120,
  },
]

const picturePath = (name) => join(root, 'docs/images', `${name}.png`)

await main(async () => {
  await ensureInstalled()
  await ensureBuilt()
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
  if (!existsSync(executablePath))
    throw new ScriptError(`${executablePath} does not exist: install Chromium, or name it in CHROMIUM`, 2)
  const { chromium } = await import('playwright-core')
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-pictures-'))
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] })
  try {
    const only = process.argv[2]
    if (only === undefined || only === 'dashboard')
      await takeDashboardPicture(browser, { path: picturePath('dashboard'), widthPixels, heightPixels: 560 })
    for (const { name, args, from, heightPixels } of pictures) {
      if (only !== undefined && only !== name) continue
      const file = join(folder, `${name}.html`)
      const command = args.map((arg) => (arg === 'FILE' ? file : arg))
      await run(process.execPath, [join(root, 'packages/shardlab/bin/shardlab.js'), ...command])
      if (!existsSync(file)) throw new ScriptError(`shardlab ${command.join(' ')} wrote no report`)
      const page = await browser.newPage({ viewport: { width: widthPixels, height: heightPixels } })
      await page.goto(pathToFileURL(file).href)
      if (from !== null)
        await page
          .locator(from)
          .first()
          .evaluate((element) => element.scrollIntoView())
      await page.screenshot({ path: picturePath(name) })
      await page.close()
    }
  } finally {
    await browser.close()
    rmSync(folder, { recursive: true })
  }
  return 0
})
