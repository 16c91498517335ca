import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FileRows } from '../../../../nodes/PushCampaignContacts/file/fileRows';
import { prepareFeed } from '../../../../nodes/PushCampaignContacts/feed/prepare';
import { accept, scripted } from '../feed/scripted';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function held(): number {
	collectGarbage();
	return process.memoryUsage().heapUsed;
}

const PIECES = 400;
const NOTE = 'x'.repeat(60_000);

/** A row in each 60 kB, without a number. */
async function* pieces(): AsyncGenerator<Uint8Array> {
	yield Buffer.from('phone,note\n');
	for (let piece = 0; piece < PIECES; piece++) {
		yield Buffer.from(`ask at the reception ${piece},${NOTE}\n`);
	}
}

test.each([true, false])(
	'what is kept of a row keeps nothing else of the file, with Normalize Phone Numbers %s',
	async (normalizePhones) => {
		const source = { name: 'a.csv', open: async () => pieces() };
		const writing = { delimiter: ',', encoding: 'utf-8' };
		const rows = await FileRows.open([source], writing, async () => {});
		const { options } = scripted(accept);
		const before = held();
		const prepared = await prepareFeed(rows, options.columns, { ...options, normalizePhones });
		const kept = held() - before;
		expect(prepared.rows.length + prepared.unsentRows.length).toBe(PIECES);
		expect(kept).toBeLessThan((PIECES * NOTE.length) / 4);
	},
);
