/** Buttons for helpers of mongosh. Each shows its command, which can be changed and sent. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from '../app.js'
import { notJson, readable, strictJson } from '../json-texts.js'
import { shHelpersOf, type HelperInput } from '../sh-helpers.js'

/** Of `runCommand`. */
export interface PageReply {
  readonly error: string | null
  readonly reply: string
  readonly documents: readonly string[]
}

let text = ''
/** Of the command that was sent last; null: none. */
let reply: string | null = null

export function shCommands(given: HelperInput, app: App): TemplateResult {
  const choose = (command: object): void => {
    text = JSON.stringify(command)
    app.redraw()
  }
  const send = (event: Event): void => {
    event.preventDefault()
    void run(app)
  }
  return html`<section>
    <h2>Helpers of mongosh</h2>
    <p class="buttons" role="group" aria-label="Helpers">
      ${shHelpersOf(app.state.cluster!.emulate).map(
        ({ name, command }) => html`<button type="button" @click=${() => choose(command(given))}>${name}</button>`,
      )}
    </p>
    <form @submit=${send}>
      <label
        >Command to admin
        <input
          name="command"
          .value=${text}
          autocomplete="off"
          spellcheck="false"
          placeholder="choose a helper, or type a command"
          @input=${(event: Event) => {
            text = (event.target as HTMLInputElement).value
            app.redraw()
          }}
      /></label>
      <button type="submit" class="main">Send</button>
    </form>
    ${reply === null ? nothing : html`<pre class="reply" tabindex="0" aria-label="Reply">${reply}</pre>`}
  </section>`
}

async function run(app: App): Promise<void> {
  reply = null
  let command: string
  try {
    command = strictJson(text)
  } catch (error) {
    return app.fail(`The command ${notJson(error)}`)
  }
  if (command.replace(/\s/g, '') === '{}') return app.fail('There is no command: choose a helper, or type one.')
  const answer = (await app.run(
    'runCommand',
    { db: 'admin', command },
    'The command has been sent.',
  )) as PageReply | null
  if (answer === null) return
  reply = [answer.reply, ...answer.documents].map(readable).join('\n')
  hasFailed(answer, app)
  app.redraw()
}

/** The error is shown at the top of the page. */
export function hasFailed({ error }: PageReply, app: App): boolean {
  if (error !== null) app.fail(error)
  return error !== null
}
