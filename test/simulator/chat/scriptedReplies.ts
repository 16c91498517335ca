/**
 * Contents with special effects. More text may follow each one.
 * The reply to any other content is "You said: …".
 *
 * | content | effect |
 * | - | - |
 * | please be busy … | `busy` for the first message with this content, then a reply |
 * | please stay busy … | `busy` every time |
 * | please be invalid: <code> | `invalid` with that code |
 * | please fail … | `error` |
 * | please merge … | `merged` into a turn that ends a little later |
 * | please answer slowly … | the turn takes SLOW_MS, and later messages are merged into it |
 * | please check first … | as slow, and the agent sends INTERIM_TEXT first, which isn't the reply |
 * | please never ack … | over the socket: takes effect, no ack |
 * | please drop me … | over the socket: takes effect, the connection breaks before the ack |
 */
export const MAGIC = {
	busyOnce: 'please be busy',
	busy: 'please stay busy',
	invalid: 'please be invalid: ',
	fail: 'please fail',
	merge: 'please merge',
	slow: 'please answer slowly',
	interim: 'please check first',
	noAck: 'please never ack',
	drop: 'please drop me',
} as const;

export const SLOW_MS = 200;

export const INTERIM_TEXT = 'One moment, please';

export function asks(content: string, magic: keyof typeof MAGIC): boolean {
	return content.toLowerCase().startsWith(MAGIC[magic]);
}
