/**
 * Contents with special effects. More text may follow each one.
 * The reply to any other content is "You said: …".
 *
 * | content | effect |
 * | - | - |
 * | please be busy … | `busy` for the first message with this content, then a reply |
 * | please merge … | `merged` into a turn that ends a little later |
 * | please answer slowly … | the turn takes SLOW_MS, and later messages are merged into it |
 * | please never ack … | over the socket: takes effect, no ack |
 * | please drop me … | over the socket: takes effect, the connection breaks before the ack |
 */
const MAGIC = {
	busyOnce: 'please be busy',
	merge: 'please merge',
	slow: 'please answer slowly',
	noAck: 'please never ack',
	drop: 'please drop me',
} as const;

export const SLOW_MS = 200;

export function asks(content: string, magic: keyof typeof MAGIC): boolean {
	return content.toLowerCase().startsWith(MAGIC[magic]);
}
