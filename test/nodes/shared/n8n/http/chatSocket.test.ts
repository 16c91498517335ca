import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { ChatSocketPool } from '../../../../../nodes/shared/n8n/http/chatSocket';
import { clock, type AccountClient } from '../../../../../nodes/shared/n8n/http/accountClient';
import { startDeadline } from '../../../../../nodes/shared/n8n/tools/toolDeadline';
import type { ChatLease } from '../../../../../nodes/shared/chat/lease';
import { ChatEnded } from '../../../../../nodes/shared/chat/endings';
import { forEveryone } from '../../../../../nodes/shared/api/resolution';
import { SharedConnections } from '../../../../../nodes/shared/chat/sharedConnections';
import { makeNode, makeWorkflow } from '../../../../engine';

const connection = z.custom<AccountClient>().parse({});
const nothing = async () => await Promise.resolve();
type Opened = { session: string; close: jest.Mock; fail: () => void };
let opened: Opened[] = [];

beforeEach(() => {
	opened = [];
	jest.spyOn(SharedConnections.prototype, 'lease').mockImplementation((options) => {
		const close = jest.fn();
		const lease = z
			.custom<ChatLease & { ending: unknown }>()
			.parse({ options, ending: null, close });
		const fail = () => {
			const text = { message: 'The session is in use', resolution: forEveryone('') };
			const ending = new ChatEnded('in_use_or_inactive', text, undefined, 1008);
			Object.assign(lease, { ending });
			options.onEnded?.(ending);
		};
		opened.push({ session: options.sessionId, close, fail });
		return lease;
	});
});

/** A run that can be stopped, and its pool. */
function run(prepare: (context: IExecuteFunctions) => void = () => {}) {
	const controller = new AbortController();
	const node = makeNode({ type: 'test.sink' });
	const context = z.custom<IExecuteFunctions>().parse({
		getInstanceId: () => 'instance',
		getNode: () => node,
		getWorkflow: () => makeWorkflow([node]),
		getExecutionCancelSignal: () => controller.signal,
		onExecutionCancellation: (stop: () => void) => {
			controller.signal.addEventListener('abort', stop);
		},
	});
	prepare(context);
	return { pool: new ChatSocketPool(context), stop: () => controller.abort() };
}

const closed = () => opened.filter(({ close }) => close.mock.calls.length > 0);

test('without WebSocket, the message names the required Node.js version', async () => {
	const { pool } = run();
	const present = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');
	Reflect.deleteProperty(globalThis, 'WebSocket');
	await expect(pool.use(connection, 'session', false, nothing)).rejects.toMatchObject({
		outcome: 'not_sent',
		isTransient: false,
		resolution: expect.stringContaining('update Node.js'),
	});
	if (present) Object.defineProperty(globalThis, 'WebSocket', present);
	expect(opened).toEqual([]);
});

test('Stop ends every connection, used or kept, and no other one is opened after it', async () => {
	const { pool, stop } = run();
	await pool.use(connection, 'kept', false, nothing);
	let end = () => {};
	const used = pool.use(connection, 'in use', false, async () => {
		await new Promise<void>((resolve) => {
			end = resolve;
		});
	});
	expect(closed()).toEqual([]);
	stop();
	expect(closed().map(({ session }) => session)).toEqual(['kept', 'in use']);
	await expect(pool.use(connection, 'later', false, nothing)).rejects.toMatchObject({
		outcome: 'not_sent',
		message: 'The execution was stopped before this item',
	});
	end();
	await used;
	expect(opened).toHaveLength(2);
});

test('the reason for closing shows whether it was Stop or the time limit of a tool', async () => {
	const { pool, stop } = run();
	await pool.use(connection, 'session', false, nothing);
	stop();
	expect(opened[0]?.close).toHaveBeenCalledWith('stopped');
	const limit = new AbortController();
	jest.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
	const { pool: ofTool } = run((context) => startDeadline(context, clock));
	await ofTool.use(connection, 'session', false, nothing);
	limit.abort();
	expect(opened[1]?.close).toHaveBeenCalledWith('time_limit');
});

test('a failed session is connected again for a later item, but not within 20 seconds', async () => {
	const { pool } = run();
	const elapsed = jest.spyOn(clock, 'elapsed').mockReturnValue(1_000);
	await pool.use(connection, 'session', false, nothing);
	opened[0]?.fail();
	const later = async (ms: number) => {
		elapsed.mockReturnValue(1_000 + ms);
		await pool.use(connection, 'session', false, nothing);
		return opened.length;
	};
	// Items in between don't extend the time.
	expect([await later(10_000), await later(19_999)]).toEqual([1, 1]);
	expect(await later(20_000)).toBe(2);
	expect(await later(50_000)).toBe(3);
});

test('only the ten sessions used last are kept', async () => {
	const { pool } = run();
	for (let session = 1; session <= 10; session += 1) {
		await pool.use(connection, String(session), false, nothing);
	}
	expect(closed()).toEqual([]);
	await pool.use(connection, '11', false, nothing);
	expect(closed().map(({ session }) => session)).toEqual(['1']);
	await pool.use(connection, '2', false, nothing);
	await pool.use(connection, '12', false, nothing);
	expect(closed().map(({ session }) => session)).toEqual(['1', '2', '3']);
});

test('closeAll closes every kept session', async () => {
	const { pool } = run();
	await pool.use(connection, 'a', false, nothing);
	await pool.use(connection, 'b', false, nothing);
	pool.closeAll();
	expect(closed()).toHaveLength(2);
});
