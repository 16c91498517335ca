/** The file of a push is deleted or changed while its rows are sent. */
import { Readable } from 'node:stream';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IRun } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness, oneNodeWorkflow, retryFailed, runWorkflow } from '../../engine';
import {
	accepted,
	respondWith,
	respondInto,
	phone,
	phonesOf,
	pushNode,
	type NodeParameters,
} from './pushHarness';

engineHarness();
afterEach(() => jest.restoreAllMocks());

const OK: [number, JsonObject] = [200, accepted(2)];
const inTwos: NodeParameters = {
	contactsFrom: 'csv',
	developerSettings: { contactsPerRequest: 2 },
};
const file = {
	id: 'filesystem-v2:a',
	data: 'filesystem-v2',
	mimeType: 'text/csv',
	fileName: 'a.csv',
};
const input = [{ json: {}, binary: { data: file } }];
const numbers = Array.from({ length: 10 }, (_, index) => phone(index));
const lines = numbers.map((number, index) => (index === 0 ? `phone\n${number}\n` : `${number}\n`));

/** n8n reads its stored file piece by piece. `pieceNow` returns what a piece contains at this moment. */
function stores(pieceNow: (piece: string, index: number) => string): void {
	async function* pieces() {
		for (const [index, piece] of lines.entries()) {
			await new Promise((resolve) => setImmediate(resolve));
			yield Buffer.from(pieceNow(piece, index));
		}
	}
	const read = jest.spyOn(Container.get(BinaryDataService), 'getAsStream');
	read.mockImplementation(async () => Readable.from(pieces(), { highWaterMark: 1 }));
}

const flow = () => oneNodeWorkflow(pushNode(inTwos), ['Pushed', 'Rejected']);

async function run(): Promise<IRun> {
	const { workflow, start } = flow();
	return await runWorkflow(workflow, start, input, 'trigger');
}

const retry = async (failed: IRun) => await retryFailed(failed, flow().workflow);

const errorOf = ({ data }: IRun) => data.resultData.error;

/** The last rows, after the first request was accepted. */
const isLost = (bodies: JsonObject[], index: number) => bodies.length > 0 && index > 6;

test('if n8n deletes it, the message leads to the remaining rows, and the retry sends only these', async () => {
	const bodies = respondWith(OK, OK, OK);
	let isDeleted = true;
	stores((piece, index) => {
		if (isDeleted && isLost(bodies, index)) throw new Error('ENOENT');
		return piece;
	});
	const failed = await run();
	expect(errorOf(failed)).toMatchObject({
		message: `n8n couldn't read the file "a.csv" to its end, so the remaining rows weren't sent`,
		description: expect.stringMatching(
			/^Push only the remaining rows\. If n8n has deleted the file, load it again first\. n8n said: ENOENT\.\nTo send only the rows that weren't sent, retry this execution[^]*\nPushed: 6 rows/,
		),
	});
	isDeleted = false;
	respondInto(bodies, OK, OK);
	expect(errorOf(await retry(failed))).toBeUndefined();
	expect(bodies.flatMap(phonesOf)).toEqual(numbers);
});

test('if it changes, the retry with the changed file sends nothing', async () => {
	const bodies = respondWith(OK, OK, OK);
	stores((piece, index) => (isLost(bodies, index) ? `${phone(99)}\n` : piece));
	const failed = await run();
	expect(errorOf(failed)).toMatchObject({
		message: "The file changed after its rows were checked, so the remaining rows weren't sent",
		description: expect.stringMatching(
			/^Restore the file, or push only the remaining rows of the new one\.\n/,
		),
	});
	stores((piece, index) => (index === 0 ? `phone\n${phone(98)}\n${phone(0)}\n` : piece));
	expect(errorOf(await retry(failed))?.message).toMatch(
		/^The rows or the options changed since an earlier attempt/,
	);
	expect(bodies.flatMap(phonesOf)).toEqual(numbers.slice(0, 6));
});
