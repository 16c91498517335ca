import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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
