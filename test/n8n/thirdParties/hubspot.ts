import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

const properties = z.object({
	properties: z.array(z.object({ property: z.string(), value: z.unknown() })),
});
const byEmail = z.object({ email: z.string() });

export const hubspotToken = 'pat-token-of-the-tests';

/** api.hubapi.com: stores contacts by email address. */
export class Hubspot {
	readonly contacts = new Map<string, Record<string, unknown>>();

	readonly routes = async (app: FastifyInstance): Promise<void> => {
		app.post('/contacts/v1/contact/createOrUpdate/email/:email', async (request, reply) => {
			if (request.headers.authorization !== `Bearer ${hubspotToken}`) {
				return await reply.code(401).send({ message: 'Authentication credentials not found' });
			}
			const { email } = byEmail.parse(request.params);
			const isNew = !this.contacts.has(email);
			const contact = { ...this.contacts.get(email) };
			for (const { property, value } of properties.parse(request.body).properties) {
				contact[property] = value;
			}
			this.contacts.set(email, contact);
			return await reply.send({ vid: [...this.contacts.keys()].indexOf(email) + 1, isNew });
		});
		app.get('/contacts/v1/contact/vid/:vid/profile', async () => await Promise.resolve({}));
		await Promise.resolve();
	};
}
