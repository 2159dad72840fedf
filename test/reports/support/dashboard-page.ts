/** Opens pages of a dashboard in a real Chromium (`CHROMIUM`, default /usr/bin/chromium). */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { chromium, type Browser, type Page } from 'playwright-core'
import t, { type Test } from 'tap'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
export const options = existsSync(executablePath)
  ? { timeout: 120_000 }
  : { skip: `there is no Chromium at ${executablePath}: install it, or name it in CHROMIUM` }
export const sizes = [1280, 420].map((width) => ({ width, height: 900 }))

/** Several files may share this module in one process, one after the other. */
let browser: Browser | null = null

async function openBrowser(): Promise<Browser> {
  if (browser?.isConnected() === true) return browser
  const opened = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] })
  t.teardown(() => opened.close())
  browser = opened
  return opened
}

/**
 * Opens the page, and checks what holds for all of them.
 * @param script runs before those of the page
 */
export async function onPage(t: Test, url: string, look: (page: Page) => Promise<void>, script = ''): Promise<void> {
  const page = await (await openBrowser()).newPage({ viewport: sizes[0]!, ignoreHTTPSErrors: true })
  page.setDefaultTimeout(20_000)
  const wrong: string[] = []
  page.on('pageerror', ({ message }) => wrong.push(message))
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
  page.on('request', (each) => each.url() === url || /^(data:|wss?:)/.test(each.url()) || wrong.push(each.url()))
  await page.addInitScript(script)
  await page.goto(url)
  await page.locator('h1').waitFor()
  await look(page)
  t.same(wrong, [], 'neither errors nor requests to a network')
  await page.close()
}

/** Of axe-core. */
interface AxeFinding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly target: unknown }[]
}

export async function accessible(t: Test, page: Page, view: string, rules = ''): Promise<void> {
  // As an expression, because the policy of the page allows no further script elements.
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(`${axe};0`)
  const found = await page.evaluate(`axe.run(${rules}).then(({ violations }) => violations)`)
  const serious = (found as AxeFinding[]).filter(({ impact }) => impact === 'serious' || impact === 'critical')
  t.same(
    serious.map(({ id, nodes }) => [id, nodes.map(({ target }) => target)]),
    [],
    `${view} has no serious finding of axe`,
  )
}
