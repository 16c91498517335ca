import compact from 'lodash/compact';
import pLimit from 'p-limit';
import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import type { ConnectionUser } from '../core/chat/connectionUser';
import type { ChatEvent } from '../core/chat/frames';
import { sessionKey, splitSessionIds } from '../core/chat/parseChatFields';
import type { Ending } from '../core/chat/reconnectPolicy';
import { explained, InvalidInput } from '../core/service/errors';
import { parseList } from '../core/values/values';
import type { Fields } from '../host/forms/fields';
import { formOf } from '../host/forms/nodeParameters';
import { type AccountClient, createAccountClient } from '../host/http/accountClient';
import { joinChat, requestWsToken, requireWebSocket } from '../host/http/chatSocket';
import { toNodeError } from '../host/http/nodeErrors';
import { nodeKey } from '../host/nodeRun';
import { EventStarter } from './eventStarter';
import { lossReporter, sessionsLost } from './lossReporter';
import { triggerFields } from './properties';
import { activeListeners, readWatchSecret, storedSessions } from './watchRequests';

type ListenerSettings = {
	/** Null for all events. */
	types: ReadonlySet<string> | null;
	disconnectOther: boolean;
};

/** How long deactivation waits until n8n has received all events. n8n stops by force after 30 seconds. */
const DRAIN_MS = 20_000;

/** When n8n starts, no user sees an error. */
const SHOWN_TO_USER = ['activate', 'create', 'update'];

export async function activate(context: ITriggerFunctions): Promise<ITriggerResponse> {
	try {
		const { sessionIds, watches, ...settings } = readSettings(context);
		const account = await createAccountClient(context);
		const listener = new ChatEventsListener(context, account, settings);
		const key = nodeKey(context);
		const closeFunction = async () => {
			if (activeListeners.get(key) === listener) activeListeners.delete(key);
			await listener.close();
		};
		if (context.getMode() === 'manual') {
			const manualTriggerFunction = async () => {
				await listener.check(sessionIds);
				listener.follow(sessionIds);
			};
			return { closeFunction, manualTriggerFunction };
		}
		if (watches) activeListeners.set(key, listener);
		else if (SHOWN_TO_USER.includes(context.getActivationMode())) await listener.check(sessionIds);
		listener.follow(watches ? storedSessions(context) : sessionIds);
		return { closeFunction };
	} catch (error) {
		throw toNodeError(context.getNode(), error);
	}
}

/** @throws InvalidInput if a session to listen to, or the secret for requests that add one, is missing */
function readSettings(context: ITriggerFunctions) {
	const form = formOf(context, triggerFields);
	const watches = form.choice('sessions', 'listed') === 'watched';
	if (watches) readWatchSecret(form);
	if (watches && context.getMode() === 'manual') {
		throw new InvalidInput(
			"Watched sessions can't be tested in the editor",
			"In n8n, publish the workflow, and add sessions with Chat Session > Watch. For a test, set 'Sessions' to 'Listed'.",
		);
	}
	const sessionIds = watches ? [] : splitSessionIds(form.textOrList('sessionIds'));
	if (sessionIds.length === 0 && !watches) {
		throw new InvalidInput(
			"'Session IDs' is empty",
			"In n8n, enter the sessions to listen to, or set 'Sessions' to 'Watched' to add sessions while the workflow is published.",
		);
	}
	const disconnectOther = form.collection('options').switch('disconnectOther', false);
	return { sessionIds, watches, types: chosenTypes(form), disconnectOther };
}

/** The selected types. Null for all events, which is what an empty 'Events' means, whatever other types are entered. */
function chosenTypes(form: Fields): ReadonlySet<string> | null {
	const events = form.choices('eventTypes');
	const others = form.collection('options').textOrList('otherEventTypes');
	if (events.length === 0) return null;
	return new Set([...events, ...parseList(others)]);
}

/** One active trigger with its sessions, from activation to deactivation. */
export class ChatEventsListener {
	private readonly closed = new AbortController();

	private readonly starter: EventStarter;

	private readonly losses: ReturnType<typeof lossReporter>;

	/** By `sessionKey`, because upper and lower case mean the same session. */
	private readonly sessions = new Map<string, { sessionId: string; user: ConnectionUser }>();

	/** Requests for tokens at the same time, after which the sessions connect. */
	private readonly minting = pLimit(20);

	constructor(
		private readonly context: ITriggerFunctions,
		private readonly account: AccountClient,
		private readonly settings: ListenerSettings,
	) {
		requireWebSocket();
		this.losses = lossReporter(context, this.closed.signal);
		this.starter = new EventStarter(context, (lost) => this.losses.events([lost]));
	}

	get sessionIds(): string[] {
		return [...this.sessions.values()].map(({ sessionId }) => sessionId);
	}

	/** @throws NodeOperationError with the sessions for which the service issues no token */
	async check(sessionIds: string[]): Promise<void> {
		const checked = sessionIds.map(
			async (sessionId) =>
				await this.minting(requestWsToken, this.account, sessionId).then(
					() => null,
					(error: unknown) => ({ sessionId, error: explained(error) }),
				),
		);
		const losses = compact(await Promise.all(checked));
		if (losses.length > 0) throw sessionsLost(this.context, losses);
	}

	follow(sessionIds: string[]): void {
		for (const sessionId of sessionIds) {
			if (!this.sessions.has(sessionKey(sessionId))) this.connect(sessionId, this.account);
		}
	}

	unwatch(sessionIds: string[]): void {
		for (const sessionId of sessionIds) {
			this.sessions.get(sessionKey(sessionId))?.user.close();
			this.sessions.delete(sessionKey(sessionId));
		}
	}

	/** Listens until n8n has received all events, so that the gap before the next trigger listens is short. */
	async close(): Promise<void> {
		const unstarted = await this.starter.drain(DRAIN_MS);
		this.unwatch(this.sessionIds);
		this.losses.events(unstarted);
		this.closed.abort();
	}

	private connect(sessionId: string, account: AccountClient): void {
		const { types, disconnectOther } = this.settings;
		const key = sessionKey(sessionId);
		const mintToken = async () => {
			// n8n doesn't restart a trigger when its credential is edited. One that can't be read or used changes nothing.
			const current = await createAccountClient(this.context).catch(() => account);
			const isSame = current.account === account.account && current.baseUrl === account.baseUrl;
			if (!isSame && !user.signal.aborted) {
				user.close();
				this.connect(sessionId, current);
			}
			user.signal.throwIfAborted();
			return await requestWsToken(account, sessionId);
		};
		const user = joinChat(this.context, account, sessionId, {
			usedBy: 'trigger',
			disconnectOther,
			mintToken: async () => await this.minting(mintToken),
			onEvent: (event: ChatEvent) => {
				if (types === null || types.has(event.type)) this.starter.emit({ sessionId, event });
			},
			onLost: (ending, isRetried) => {
				if (!isRetried) this.sessions.delete(key);
				this.onLost(sessionId, ending, isRetried);
			},
		});
		this.sessions.set(key, { sessionId, user });
	}

	private onLost(sessionId: string, ending: Ending, isRetried: boolean): void {
		const loss = { sessionId, error: ending };
		if (this.context.getMode() === 'manual') {
			this.context.emitError(sessionsLost(this.context, [loss]));
		} else if (ending.kind === 'session_closed') {
			const message = "Stopped listening to a chat session, because it's closed";
			this.context.logger.info(message, { sessionId });
		} else {
			this.losses[isRetried ? 'retried' : 'givenUp']([loss]);
		}
	}
}
