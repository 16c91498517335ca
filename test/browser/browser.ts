import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { freePort } from '../n8n/ports';

/** Chromium and Chrome under the names of Debian and of GitHub's runners. The last one is only a stub on some Ubuntus. */
const COMMANDS = ['chromium', 'google-chrome', 'google-chrome-stable', 'chromium-browser'];

/** The browser for the tests: `CHROMIUM`, or the first one in `PATH`. */
export function browserPath({ CHROMIUM, PATH = '' } = process.env): string {
	if (CHROMIUM !== undefined) return CHROMIUM;
	const found = COMMANDS.flatMap((command) =>
		PATH.split(delimiter).map((folder) => join(folder, command)),
	).find((path) => existsSync(path));
	if (found !== undefined) return found;
	throw new Error(
		`The tests need a browser, but PATH has none of these: ${COMMANDS.join(', ')}. ` +
			'Debian: `sudo apt-get install chromium`. Or set CHROMIUM to the path of one.',
	);
}

export const browserOptions = {
	executablePath: browserPath(),
	headless: true,
	args: [
		'--no-sandbox',
		'--disable-gpu',
		'--disable-quic',
		'--no-first-run',
		'--disable-background-networking',
		'--disable-component-update',
		'--disable-sync',
	],
};

/** A browser for several processes, one after another, with the URL that they connect to. */
export async function startBrowser(): Promise<{ browser: Browser; browserUrl: string }> {
	const port = await freePort();
	const args = [...browserOptions.args, `--remote-debugging-port=${port}`];
	const browser = await chromium.launch({ ...browserOptions, args });
	return { browser, browserUrl: `http://127.0.0.1:${port}` };
}
