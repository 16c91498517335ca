import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NotSent } from '../../api/errors';
import { onScreenOnly } from '../../api/modelAdvice';
import { sessionKey } from '../../chat/parseChatFields';
import type { Limiter } from '../../keyedMutex';
import { ChatSocketPool } from '../http/chatSocket';
import type { AccountClient } from '../http/accountClient';
import { type Fields, MAY_BE_BLANK } from '../forms/fields';
import { type CompletedText, sendEachItem } from './itemLoop';
import type { PreparedRequest } from '../idempotency/handler';
import type { OperationRun } from './operations';
import { readConcurrency } from '../forms/options';

export type ChatDeps = {
	context: IExecuteFunctions;
	connection: AccountClient;
	sockets: ChatSocketPool;
};

/** Reads and checks the form of one item, and returns the request. Sends nothing. */
export type Prepare = (form: Fields) => PreparedRequest<ChatDeps>;

export type ChatLoopOptions = {
	/** For the message about completed items when a later one stops the node. */
	completedText: CompletedText;
	/** Default number of items in flight. */
	concurrency?: number;
};

/** Sends each item once. Items of the same session are sent in order. */
export async function forEachChatItem(
	{ context, parameters, connection }: OperationRun,
	prepare: Prepare,
	{ completedText, concurrency = 1 }: ChatLoopOptions,
): Promise<INodeExecutionData[]> {
	const sockets = new ChatSocketPool(context);
	const order = new KeyedQueue(context.continueOnFail());
	const limiterFor = (index: number): Limiter => {
		const session = sessionOf(parameters.at(index));
		return async (job) => (session === '' ? await job() : await order.run(session, job));
	};
	try {
		return await sendEachItem(context, (index) => prepare(parameters.at(index)), {
			createDeps: async () => ({ context, connection: await connection(), sockets }),
			limiterFor,
			concurrency: readConcurrency(parameters, concurrency),
			completedText,
		});
	} finally {
		sockets.closeAll();
	}
}

/** Empty if the item creates a session. */
function sessionOf(form: Fields): string {
	return form.has('sessionId') ? sessionKey(form.text('sessionId', MAY_BE_BLANK)) : '';
}

/** Runs jobs with the same key one after another, in order. Jobs with different keys run at the same time. */
export class KeyedQueue {
	private readonly last = new Map<string, Promise<unknown>>();

	private readonly failed = new Set<string>();

	/** @param continueOnFail whether jobs still run after an earlier one with the same key failed */
	constructor(private readonly continueOnFail: boolean) {}

	async run<T>(key: string, job: () => Promise<T>): Promise<T> {
		const previous = this.last.get(key) ?? Promise.resolve();
		const current = previous.then(async () => await this.attempt(key, job));
		this.last.set(
			key,
			current.catch(() => this.failed.add(key)),
		);
		return await current;
	}

	private async attempt<T>(key: string, job: () => Promise<T>): Promise<T> {
		if (this.failed.has(key) && !this.continueOnFail) {
			throw new NotSent(
				'Nothing was sent, because an earlier item of the same chat session failed',
				onScreenOnly('Correct the earlier item first, so that the conversation keeps its order.'),
			);
		}
		return await job();
	}
}
