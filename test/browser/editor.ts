/** n8n's editor in a real browser. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import compact from 'lodash/compact';
import { selectors, type Browser, type Locator, type Page } from 'playwright-core';
import { owner } from '../n8n/driver';
import { openBrowser } from './browser';

const SCREEN = { width: 1440, height: 1000 };
const LARGE_SCREEN = { width: 2400, height: 1400 };

/** The name of a node is wider than the node, its subtitle is below, and the button of a free output is beside it. */
const PARTS_OF_NODES = [
	'.vue-flow__node',
	'.vue-flow__node [class*="_label_"]',
	'.vue-flow__node [class*="_subtitle_"]',
	'[data-test-id="canvas-handle-plus"]',
].join(', ');
/** Only ends tests that hang. On a busy machine, n8n takes a minute to load. */
const MAX_WAIT_MS = 120_000;
const QUIET_PAGE = '/settings/personal';
/** Space around the nodes of a picture, such as for the sign of a trigger. */
const MARGIN = 40;

export class Editor {
	/** Errors in the browser's console since the editor was opened, without errors about other hosts, because there is no network. */
	readonly errors: string[] = [];

	private constructor(
		private readonly browser: Browser,
		readonly page: Page,
		private readonly baseUrl: string,
	) {}

	/** Opens n8n in a browser, and signs in. n8n follows the color scheme of the browser. */
	static async open(
		{ baseUrl }: { baseUrl: string },
		colorScheme: 'light' | 'dark' = 'light',
	): Promise<Editor> {
		selectors.setTestIdAttribute('data-test-id');
		const browser = await openBrowser();
		const context = await browser.newContext();
		context.setDefaultTimeout(MAX_WAIT_MS);
		const page = await context.newPage();
		await page.setViewportSize(SCREEN);
		await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
		const editor = new Editor(browser, page, baseUrl);
		await editor.signIn();
		page.on('pageerror', ({ message }) => {
			editor.addError(message);
		});
		page.on('console', (message) => {
			const { url } = message.location();
			// n8n requests schemas that its own nodes don't have.
			const isOurs = url.startsWith(baseUrl) && !url.includes('/schemas/n8n-nodes-base.');
			if (message.type() === 'error' && isOurs) editor.addError(`${message.text()} ${url}`);
		});
		return editor;
	}

	async close(): Promise<void> {
		await this.browser.close();
	}

	/** Goes to a page of n8n as a click does, because loading n8n again takes long. */
	async show(path: string, part: Locator): Promise<void> {
		await this.leave();
		await this.route(path);
		await part.first().waitFor();
	}

	async openWorkflow(id: string): Promise<void> {
		await this.show(`/workflow/${id}`, this.page.getByTestId('canvas-node'));
	}

	/** Opens the panel of a node in the visible workflow or execution. */
	async openNode(name: string): Promise<void> {
		const node = this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
		await node.dblclick();
		await this.page.getByTestId('ndv').waitFor();
	}

	/** Opens a finished execution and the panel of one of its nodes, with input and output. */
	async openExecution(workflowId: string, executionId: string, nodeName: string): Promise<void> {
		const path = `/workflow/${workflowId}/executions/${executionId}`;
		await this.show(path, this.page.getByTestId('canvas-node'));
		await this.openNode(nodeName);
	}

	/** Selects an entry of a list from the service. */
	async pick(parameter: string, text: string): Promise<void> {
		await this.page.getByTestId(`resource-locator-${parameter}`).locator('input').last().click();
		await this.page.getByTestId('rlc-item').filter({ hasText: text }).first().click();
	}

	/** Types into the search field of a list that was just opened. In a busy browser, the field is there a moment later. */
	async searchList(text: string): Promise<void> {
		await this.page.getByTestId('rlc-search').filter({ visible: true }).fill(text);
	}

	/** Enters an ID instead of selecting from a list. */
	async enterId(parameter: string, id: string): Promise<void> {
		const locator = this.page.getByTestId(`resource-locator-${parameter}`);
		await locator.getByTestId('rlc-mode-selector').click();
		// Each list keeps its options in the page.
		await this.page.getByTestId('mode-id').filter({ visible: true }).click();
		await locator.locator('input').last().fill(id);
		await this.page.keyboard.press('Tab');
		// The editor saves the ID a moment later, and doesn't show when.
		await this.letTimersEnd(500);
	}

	/** Waits until timers of the page end that are shorter, however busy the browser is. */
	async letTimersEnd(ms: number): Promise<void> {
		await this.page.evaluate(
			async (length) => await new Promise((resolve) => setTimeout(resolve, length)),
			ms,
		);
	}

	/** Searches a list of options and selects one. */
	async choose(parameter: string, text: string): Promise<void> {
		await this.page.getByTestId(`parameter-input-${parameter}`).first().click();
		await this.page.keyboard.type(text);
		await this.page.getByTestId('parameter-input-item').filter({ hasText: text }).last().click();
	}

	async write(parameter: string, text: string): Promise<void> {
		const field = this.page.getByTestId(`parameter-input-${parameter}`).first();
		await field.locator('input, textarea').first().fill(text);
	}

	/** The part of the panel with the members of a collection. */
	collection(label: string): Locator {
		const title = this.page.getByTestId('input-label').filter({ hasText: label });
		return this.page.getByTestId('parameter-item').filter({ has: title }).last();
	}

	/** Adds a member of a collection, such as 'Options'. */
	async add(label: string, member: string): Promise<void> {
		await this.collection(label).getByTestId('collection-parameter-add').last().click();
		await this.page
			.getByTestId('collection-parameter-option')
			.filter({ hasText: member, visible: true })
			.first()
			.click();
	}

	/** Clicks *Execute step*, or the button of a trigger. */
	async execute(): Promise<void> {
		await this.page.getByTestId('node-execute-button').first().click();
	}

	/** Waits until the output panel shows a text of an item or an error. */
	async readOutput(text: string | RegExp): Promise<void> {
		await this.page.getByTestId('output-panel').getByText(text).first().waitFor();
	}

	async openCredential(id: string): Promise<void> {
		await this.show(`/home/credentials/${id}`, this.page.getByTestId('editCredential-modal'));
	}

	async screenshot(folder: string, name: string): Promise<void> {
		await mkdir(folder, { recursive: true });
		// Lists and expressions load after the panel has opened.
		await this.page.waitForLoadState('networkidle');
		await this.page.waitForTimeout(700);
		await this.page.screenshot({ path: join(folder, `${name}.png`) });
	}

	/** Takes a picture of the whole visible workflow, without its surroundings. */
	async canvasPicture(folder: string, name: string): Promise<void> {
		await mkdir(folder, { recursive: true });
		// n8n zooms out only so far: on a small screen the right end of a long workflow stays outside.
		await this.page.setViewportSize(LARGE_SCREEN);
		await this.page.getByTestId('zoom-to-fit').click();
		await this.page.waitForLoadState('networkidle');
		await this.page.waitForTimeout(700);
		const parts = await this.page.locator(PARTS_OF_NODES).all();
		const boxes = compact(await Promise.all(parts.map(async (part) => await part.boundingBox())));
		const [x, y] = [
			Math.min(...boxes.map((box) => box.x)) - MARGIN,
			Math.min(...boxes.map((box) => box.y)) - MARGIN,
		];
		const width = Math.max(...boxes.map((box) => box.x + box.width)) + MARGIN - x;
		const height = Math.max(...boxes.map((box) => box.y + box.height)) + MARGIN - y;
		const path = join(folder, `${name}.png`);
		// The button to execute the workflow is in front of the canvas.
		const style = '[class*="executionButtons"] { visibility: hidden }';
		await this.page.screenshot({ path, clip: { x, y, width, height }, style });
		await this.page.setViewportSize(SCREEN);
	}

	/** Closes what is open, without saving it, and goes to a page without workflows and dialogs. */
	private async leave(): Promise<void> {
		await this.page.keyboard.press('Escape');
		await this.route(QUIET_PAGE);
		const quiet = this.page.getByTestId('personal-settings-container');
		const discard = this.page.getByRole('button', { name: 'Leave without saving' });
		await quiet.or(discard).first().waitFor();
		if (await discard.isVisible()) await discard.click();
		await quiet.waitFor();
	}

	/** Uses n8n's router. As text, because only the page has the types. */
	private async route(path: string): Promise<void> {
		await this.page.evaluate(
			`void document.querySelector('#app').__vue_app__
				.config.globalProperties.$router.push(${JSON.stringify(path)})`,
		);
	}

	private addError(text: string): void {
		// n8n reports this of itself when it leaves a workflow whose panel was open.
		if (!text.includes('injectNDVStore() was accessed without')) this.errors.push(text);
	}

	private async signIn(): Promise<void> {
		await this.page.goto(`${this.baseUrl}/signin?redirect=${encodeURIComponent(QUIET_PAGE)}`);
		await this.page
			.locator('input[type="email"], input[autocomplete="email"]')
			.first()
			.fill(owner.email);
		await this.page.locator('input[type="password"]').fill(owner.password);
		await this.page.getByRole('button', { name: 'Sign in' }).click();
		await this.page.getByTestId('personal-settings-container').waitFor();
	}
}
