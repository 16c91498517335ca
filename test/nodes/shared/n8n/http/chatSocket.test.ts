import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import { withChatSocket } from '../../../../../nodes/shared/n8n/http/chatSocket';
import type { AccountClient } from '../../../../../nodes/shared/n8n/http/accountClient';
import {
	type ChatLease,
	SharedConnections,
} from '../../../../../nodes/shared/chat/sharedConnections';
import { makeNode, makeWorkflow } from '../../../../engine';

const connection = z.custom<AccountClient>().parse({});
const nothing = async () => await Promise.resolve();
type Opened = { session: string; close: jest.Mock };
let opened: Opened[] = [];

beforeEach(() => {
	opened = [];
	jest.spyOn(SharedConnections.prototype, 'lease').mockImplementation((options) => {
		const close = jest.fn();
		opened.push({ session: options.sessionId, close });
		return z.custom<ChatLease>().parse({ close });
	});
});

/** A run that can be stopped. */
function run() {
	const controller = new AbortController();
	const node = makeNode({ type: 'test.sink' });
	const context = z.custom<IExecuteFunctions>().parse({
		getInstanceId: () => 'instance',
		getNode: () => node,
		getWorkflow: () => makeWorkflow([node]),
		getExecutionCancelSignal: () => controller.signal,
	});
	return { context, stop: () => controller.abort() };
}

const closed = () => opened.filter(({ close }) => close.mock.calls.length > 0);

/** Uses a session until the returned function is called. */
function using(context: IExecuteFunctions, session: string) {
	let end = () => {};
	const used = withChatSocket(
		context,
		connection,
		session,
		{ disconnectOther: false },
		async () => {
			await new Promise<void>((resolve) => {
				end = resolve;
			});
		},
	);
	return async () => {
		end();
		await used;
	};
}

test('Stop ends every connection in use, and no other one is opened after it', async () => {
	const { context, stop } = run();
	const ends = ['a', 'b'].map((session) => using(context, session));
	expect(closed()).toEqual([]);
	stop();
	expect(closed().map(({ session }) => session)).toEqual(['a', 'b']);
	expect(opened[0]?.close).toHaveBeenCalled();
	await expect(
		withChatSocket(context, connection, 'later', { disconnectOther: false }, nothing),
	).rejects.toMatchObject({
		outcome: 'not_sent',
		message: 'The execution was stopped before this item',
	});
	await Promise.all(ends.map(async (end) => await end()));
	expect(opened).toHaveLength(2);
});
