/** The file of a push is deleted or changed while its rows are sent. */
import { Readable } from 'node:stream';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { INode, IRun } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness, oneNodeWorkflow, output, retryFailed, runWorkflow } from '../../engine';
import {
	accepted,
	respondWith,
	respondInto,
	jsonOf,
	phone,
	phonesOf,
	pushNode,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();
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

const flow = (over: Partial<INode> = {}) =>
	oneNodeWorkflow(pushNode(harness, inTwos, over), ['Pushed', 'Rejected']);

async function run(over: Partial<INode> = {}): Promise<IRun> {
	const { workflow, start } = flow(over);
	return await runWorkflow(harness.credentials, workflow, start, input, 'trigger');
}

const retry = async (failed: IRun) =>
	await retryFailed(harness.credentials, failed, flow().workflow);

const errorOf = ({ data }: IRun) => data.resultData.error;

/** The last rows, after the first request was accepted. */
const isLost = (bodies: JsonObject[], index: number) => bodies.length > 0 && index > 6;

describe('a file that n8n has deleted while its rows were sent', () => {
	function deleted() {
		const bodies = respondWith(OK, OK, OK);
		const state = { isDeleted: true };
		stores((piece, index) => {
			if (state.isDeleted && isLost(bodies, index)) throw new Error('ENOENT');
			return piece;
		});
		return { bodies, state };
	}

	test('the message leads to the remaining rows, and the retry sends only these', async () => {
		const { bodies, state } = deleted();
		const failed = await run();
		expect(errorOf(failed)).toMatchObject({
			message: `n8n couldn't read the file "a.csv" to its end, so the remaining rows weren't sent`,
			description: expect.stringMatching(
				/^Push only the remaining rows\. If n8n has deleted the file, load it again first\. n8n said: ENOENT\.\nTo send only the rows that weren't sent, retry this execution[^]*\nPushed: 6 rows/,
			),
		});
		state.isDeleted = false;
		respondInto(bodies, OK, OK);
		expect(errorOf(await retry(failed))).toBeUndefined();
		expect(bodies.flatMap(phonesOf)).toEqual(numbers);
	});

	test('with Continue, the reasons do not lead to a second push of all rows', async () => {
		deleted();
		const done = await run({ onError: 'continueRegularOutput' });
		const reasons = jsonOf(output(done, 'Node', 1)).map((json) => json.rejection_reason);
		expect(reasons).toHaveLength(4);
		expect(JSON.stringify(reasons)).not.toContain('workflow again');
	});
});

describe('a file that changed while its rows were sent', () => {
	test('the retry with the changed file sends nothing', async () => {
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
		const again = await retry(failed);
		expect(errorOf(again)?.message).toMatch(
			/^The rows or the options changed since an earlier attempt/,
		);
		expect(bodies.flatMap(phonesOf)).toEqual(numbers.slice(0, 6));
	});
});
