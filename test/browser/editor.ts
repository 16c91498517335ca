/** n8n's editor in a real browser. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import compact from 'lodash/compact';
import { chromium, selectors, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { owner } from '../n8n/driver';
import type { N8nInstance } from '../n8n/server';
import { browserPath } from './browserPath';

const flags = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

export const browserOptions = {
	executablePath: browserPath(),
	headless: true,
	args: flags,
};

const SCREEN = { width: 1440, height: 1000 };
const LARGE_SCREEN = { width: 2400, height: 1400 };

/** The name of a node is wider than the node, its subtitle is below, and the button of a free output is beside it. */
const PARTS_OF_NODES = [
	'.vue-flow__node',
	'.vue-flow__node [class*="_label_"]',
	'.vue-flow__node [class*="_subtitle_"]',
	'[data-test-id="canvas-handle-plus"]',
].join(', ');
/** Only ends tests that hang. On a busy machine, n8n's pages take minutes to load. */
const MAX_WAIT_MS = 300_000;
/** Space around the nodes of a picture, such as for the sign of a trigger. */
const MARGIN = 40;

export class Editor {
	/** Errors in the browser's console since the page was opened, without errors about other hosts, because there is no network. */
	readonly errors: string[] = [];

	private constructor(
		private readonly context: BrowserContext,
		readonly page: Page,
		private readonly baseUrl: string,
	) {}

	/**
	 * Starts Chromium and signs in. n8n follows the color scheme of the browser. All editors of an n8n, one after another,
	 * have one profile, so that only the first one signs in, and loads and compiles n8n's pages.
	 */
	static async open(
		{ baseUrl, home }: Pick<N8nInstance, 'baseUrl' | 'home'>,
		colorScheme: 'light' | 'dark' = 'light',
	): Promise<Editor> {
		selectors.setTestIdAttribute('data-test-id');
		const context = await chromium.launchPersistentContext(join(home, 'chromium'), {
			...browserOptions,
			viewport: SCREEN,
			colorScheme,
		});
		context.setDefaultTimeout(MAX_WAIT_MS);
		const page = context.pages()[0] ?? (await context.newPage());
		const editor = new Editor(context, page, baseUrl);
		if ((await context.cookies(baseUrl)).length === 0) await editor.signIn();
		page.on('pageerror', (error) => editor.errors.push(error.message));
		page.on('console', (message) => {
			const { url } = message.location();
			// n8n requests schemas that its own nodes don't have.
			const isOurs = url.startsWith(baseUrl) && !url.includes('/schemas/n8n-nodes-base.');
			const isError = message.type() === 'error' && isOurs;
			if (isError) editor.errors.push(`${message.text()} ${url}`);
		});
		return editor;
	}

	async close(): Promise<void> {
		// The next editor would ask for the workflows that were open here. As text, because only the page has the types.
		await this.page.evaluate(
			`Object.keys(localStorage)
				.filter((key) => key !== 'n8n-browserId')
				.forEach((key) => localStorage.removeItem(key))`,
		);
		await this.context.close();
	}

	async openWorkflow(id: string): Promise<void> {
		await this.page.goto(`${this.baseUrl}/workflow/${id}`);
		await this.page.getByTestId('canvas-node').first().waitFor();
	}

	/** Opens the panel of a node in the visible workflow or execution. */
	async openNode(name: string): Promise<void> {
		const node = this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
		await node.dblclick();
		await this.page.getByTestId('ndv').waitFor();
	}

	/** Opens a finished execution and the panel of one of its nodes, with input and output. */
	async openExecution(workflowId: string, executionId: string, nodeName: string): Promise<void> {
		await this.page.goto(`${this.baseUrl}/workflow/${workflowId}/executions/${executionId}`);
		await this.openNode(nodeName);
	}

	/** Selects an entry of a list from the service. */
	async pick(parameter: string, text: string): Promise<void> {
		await this.page.getByTestId(`resource-locator-${parameter}`).locator('input').last().click();
		await this.page.getByTestId('rlc-item').filter({ hasText: text }).first().click();
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
		await this.page.goto(`${this.baseUrl}/home/credentials/${id}`);
		await this.page.getByTestId('editCredential-modal').waitFor();
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
		await this.page.screenshot({ path, clip: { x, y, width, height } });
		await this.page.setViewportSize(SCREEN);
	}

	private async signIn(): Promise<void> {
		await this.page.goto(`${this.baseUrl}/signin`);
		await this.page
			.locator('input[type="email"], input[autocomplete="email"]')
			.first()
			.fill(owner.email);
		await this.page.locator('input[type="password"]').fill(owner.password);
		await this.page.getByRole('button', { name: 'Sign in' }).click();
		await this.page.waitForURL((url) => !url.pathname.startsWith('/signin'));
	}
}
