/**
 * What to do about an error: `onScreen` for a person in n8n, `forModel` for a model that uses the node as a tool.
 * `forModel` never names fields or settings of the screen. It's empty if a model can do nothing.
 */
export type Resolution = { onScreen: string; forModel: string };

/** What happened, and what to do about it. */
export type Explanation = {
	message: string;
	resolution: Resolution;
	/** Whether only the service knows why, so its words belong in the message. See `quotingService`. */
	quotesServiceInMessage?: boolean;
	/** What a rejection is about. `request` if not set. */
	about?: RejectionSubject;
};

/**
 * - `request`: what it asks for, so that repeating it unchanged would fail again
 * - `access`: the token, the account, or the sign-in of a proxy, whatever is asked for
 * - `moment`: the same request may succeed later. The text says "later", not when: a tool adds "a minute, or as long as the
 *   service asks", and `Retry-After` replaces it.
 */
export type RejectionSubject = 'request' | 'access' | 'moment';

/** The reader of a resolution. */
export type Reader = keyof Resolution;

export function readerOf(isModel: boolean): Reader {
	return isModel ? 'forModel' : 'onScreen';
}

/** For a person and a model alike. Must not name anything on the screen. */
export function forEveryone(text: string): Resolution {
	return { onScreen: text, forModel: text };
}

/** Only for a person in n8n. A model can't do this. */
export function onScreenOnly(text: string): Resolution {
	return { onScreen: text, forModel: '' };
}

/** The person who chats with the model, not the person on the phone. */
export const USER = 'the user you are chatting with';

/** If neither the model nor its user can fix it. */
export const FOR_THE_OWNER = `Tell ${USER} that the person who set up this tool must fix this.`;
