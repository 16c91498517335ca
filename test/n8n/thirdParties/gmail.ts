import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { SignIn } from './signIn';

export interface Mail {
	to: string;
	subject: string;
	/** HTML if the mail has an HTML part. */
	body: string;
}

const sent = z.object({ raw: z.string() });

/** www.googleapis.com/gmail: accepts mails. */
export class Gmail {
	readonly mails: Mail[] = [];

	constructor(private readonly signIn: SignIn) {}

	readonly routes = async (app: FastifyInstance): Promise<void> => {
		app.post('/gmail/v1/users/me/messages/send', async (request, reply) => {
			if (!this.signIn.isSignedIn(request)) return await reply.code(401).send({ error: {} });
			const { raw } = sent.parse(request.body);
			this.mails.push(readMail(Buffer.from(raw, 'base64url').toString('utf8')));
			const id = `mail-${this.mails.length}`;
			return await reply.send({ id, threadId: id, labelIds: ['SENT'] });
		});
		await Promise.resolve();
	};
}

function readMail(raw: string): Mail {
	const { headers, body } = split(raw);
	const boundary = /boundary="([^"]+)"/.exec(headers)?.[1];
	// The last part of a multipart mail has the most formatting.
	const part = boundary === undefined ? raw : body.split(`--${boundary}`).at(-2)?.trim();
	const content = split(part ?? '');
	return {
		to: header(headers, 'To'),
		subject: words(header(headers, 'Subject')),
		body: decoded(content.body, header(content.headers, 'Content-Transfer-Encoding')),
	};
}

function split(raw: string): { headers: string; body: string } {
	const at = raw.indexOf('\r\n\r\n');
	return { headers: raw.slice(0, at).replace(/\r\n[ \t]+/g, ' '), body: raw.slice(at + 4) };
}

function header(headers: string, name: string): string {
	return new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1]?.trim() ?? '';
}

function decoded(text: string, encoding: string): string {
	if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
	if (encoding === 'quoted-printable') return fromQuoted(text.replace(/=\r\n/g, ''));
	return text;
}

/** Decodes encoded words in a header: `=?UTF-8?Q?…?=`. */
function words(text: string): string {
	return text
		.replace(/\?=\s+=\?/g, '?==?')
		.replace(/=\?UTF-8\?([QB])\?(.*?)\?=/gi, (_all, kind: string, content: string) =>
			kind.toUpperCase() === 'B'
				? Buffer.from(content, 'base64').toString('utf8')
				: fromQuoted(content.replace(/_/g, ' ')),
		);
}

function fromQuoted(text: string): string {
	const bytes = text.replace(/=([0-9A-F]{2})/gi, (_all, hex: string) =>
		String.fromCharCode(Number.parseInt(hex, 16)),
	);
	return Buffer.from(bytes, 'latin1').toString('utf8');
}
