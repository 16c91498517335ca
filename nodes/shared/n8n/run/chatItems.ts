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

/** Reads and checks the form of one item without doing anything, and gives back what is to be sent. */
export type Prepare = (form: Fields) => PreparedRequest<ChatDeps>;

export type ChatLoopOptions = {
	/** How it is told that earlier items were done when a later one stops the run. */
	completedText: CompletedText;
	/** Items under way at once where the person sets nothing. */
	concurrency?: number;
};

/** Sends each item once; what concerns the same session is done in the order of the items. */
export async function forEachChatItem(
	{ context, parameters, connection }: OperationRun,
	prepare: Prepare,
	{ completedText: completedText, concurrency = 1 }: ChatLoopOptions,
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
			completedText: completedText,
		});
	} finally {
		sockets.closeAll();
	}
}

/** Empty where a session is created. */
function sessionOf(form: Fields): string {
	return form.has('sessionId') ? sessionKey(form.text('sessionId', MAY_BE_BLANK)) : '';
}

/** Jobs of the same key run one after another in the order they came in; those of others side by side. */
export class KeyedQueue {
	private readonly last = new Map<string, Promise<unknown>>();

	private readonly broken = new Set<string>();

	/** `goOn`: whether a job still runs after an earlier one of its key did not go through. */
	constructor(private readonly goOn: boolean) {}

	async run<T>(key: string, job: () => Promise<T>): Promise<T> {
		const before = this.last.get(key) ?? Promise.resolve();
		const mine = before.then(async () => await this.attempt(key, job));
		this.last.set(
			key,
			mine.catch(() => this.broken.add(key)),
		);
		return await mine;
	}

	private async attempt<T>(key: string, job: () => Promise<T>): Promise<T> {
		if (this.broken.has(key) && !this.goOn) {
			throw new NotSent(
				'Nothing was sent, because an earlier item of the same chat session did not go through',
				onScreenOnly('Correct the earlier item first, so that the conversation keeps its order.'),
			);
		}
		return await job();
	}
}
