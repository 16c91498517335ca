import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

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

export async function openBrowser(): Promise<Browser> {
	const executablePath = findBrowser();
	if (executablePath === undefined) {
		throw new Error(
			`The tests need a browser, but PATH has none of these: ${COMMANDS.join(', ')}. ` +
				'Debian: `sudo apt-get install chromium`. Or set CHROMIUM to the path of one.',
		);
	}
	return await chromium.launch({ executablePath, headless: true, args: FLAGS });
}
