/**
 * Contents with special effects. More text may follow each one.
 * The reply to any other content is "You said: …".
 *
 * | content | effect |
 * | - | - |
 * | please be busy … | `busy` for the first message with this content, then a reply |
 * | please stay busy … | `busy` every time |
 * | please be invalid: <code> | `invalid` with that code |
 * | please fail … | `error`; on the asynchronous way a turn_result with state error |
 * | please merge … | `merged` into a turn that ends a little later |
 * | please answer slowly … | the turn takes SLOW_MS, and later messages are merged into it |
 * | please check first … | as slow, and the agent sends INTERIM_TEXT first, which isn't the reply |
 * | please say nothing … | completes without a reply |
 * | please show buttons / please show a form | an interactive message: options yes and no / free text |
 * | please get a human … | help requested, the session switches to support |
 * | please go dormant … / please close … | a reply, then the session goes dormant / is closed |
 * | please never ack … | over the socket: takes effect, no ack |
 * | please drop me … | over the socket: takes effect, the connection breaks before the ack |
 * | please send garbage … | over the socket: malformed, unknown and binary frames before the ack |
 */
export const MAGIC = {
	busyOnce: 'please be busy',
	busy: 'please stay busy',
	invalid: 'please be invalid: ',
	fail: 'please fail',
	merge: 'please merge',
	slow: 'please answer slowly',
	interim: 'please check first',
	silent: 'please say nothing',
	buttons: 'please show buttons',
	form: 'please show a form',
	human: 'please get a human',
	dormant: 'please go dormant',
	close: 'please close',
	noAck: 'please never ack',
	drop: 'please drop me',
	garbage: 'please send garbage',
} as const;

export const SLOW_MS = 200;

export const INTERIM_TEXT = 'One moment, please';

export function asks(content: string, magic: keyof typeof MAGIC): boolean {
	return content.toLowerCase().startsWith(MAGIC[magic]);
}
