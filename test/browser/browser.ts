import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { freePort } from '../n8n/ports';

/** Chromium and Chrome under the names of Debian and of GitHub's runners. The last one is only a stub on some Ubuntus. */
const COMMANDS = ['chromium', 'google-chrome', 'google-chrome-stable', 'chromium-browser'];
const FLAGS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** The browser for the tests: `CHROMIUM`, or the first one in `PATH`. Undefined if there is none. */
function findBrowser({ CHROMIUM, PATH = '' } = process.env): string | undefined {
	if (CHROMIUM !== undefined) return CHROMIUM;
	return COMMANDS.flatMap((command) =>
		PATH.split(delimiter).map((folder) => join(folder, command)),
	).find((path) => existsSync(path));
}

async function launch(...moreFlags: string[]): Promise<Browser> {
	const executablePath = findBrowser();
	if (executablePath === undefined) {
		throw new Error(
			`The tests need a browser, but PATH has none of these: ${COMMANDS.join(', ')}. ` +
				'Debian: `sudo apt-get install chromium`. Or set CHROMIUM to the path of one.',
		);
	}
	return await chromium.launch({ executablePath, headless: true, args: [...FLAGS, ...moreFlags] });
}

/**
 * Starts a browser for several processes, one after another, with the URL that they connect to. Undefined if there is none,
 * because most tests don't need one.
 */
export async function startBrowser(): Promise<
	{ browser: Browser; browserUrl: string } | undefined
> {
	if (findBrowser() === undefined) return undefined;
	const port = await freePort();
	const browser = await launch(`--remote-debugging-port=${port}`);
	return { browser, browserUrl: `http://127.0.0.1:${port}` };
}

/** Connects to the browser at this URL, or else starts one. */
export async function openBrowser(browserUrl?: string): Promise<Browser> {
	return browserUrl === undefined ? await launch() : await chromium.connectOverCDP(browserUrl);
}
