/** The services that the example workflows use, behind a proxy that rejects every other host. */
import fastify, { type FastifyInstance } from 'fastify';
import { HostProxy, prepareProxy, type ProxySettings } from '../hostProxy';
import { Gmail } from './gmail';
import { Hubspot } from './hubspot';
import { Salesforce } from './salesforce';
import { Sheets } from './sheets';
import { SignIn } from './signIn';
import { Slack } from './slack';
import { Zoho } from './zoho';

const HOSTS = [
	'oauth2.googleapis.com',
	'sheets.googleapis.com',
	'www.googleapis.com',
	'slack.com',
	'api.hubapi.com',
	'accounts.zoho.com',
	'www.zohoapis.com',
	'login.salesforce.com',
	'example.my.salesforce.com',
];

/** Call it before n8n starts. */
export const prepareThirdParties = async (folder: string) => await prepareProxy(folder, HOSTS);

export class ThirdParties {
	readonly signIn = new SignIn('/token');
	readonly sheets = new Sheets(this.signIn);
	readonly gmail = new Gmail(this.signIn);
	readonly slack = new Slack();
	readonly hubspot = new Hubspot();
	readonly zoho = new Zoho();
	readonly salesforce = new Salesforce();
	private readonly proxy = new HostProxy(HOSTS);

	private constructor(private readonly services: FastifyInstance) {}

	static async start({ port, cert, key }: ProxySettings): Promise<ThirdParties> {
		const services = fastify({ https: { cert, key }, forceCloseConnections: true });
		const parties = new ThirdParties(services);
		const { signIn, sheets, gmail, slack, hubspot, zoho, salesforce } = parties;
		for (const { routes } of [signIn, sheets, gmail, slack, hubspot, zoho, salesforce])
			await services.register(routes);
		const url = await services.listen({ host: '127.0.0.1', port: 0 });
		await parties.proxy.start(port, Number(new URL(url).port));
		return parties;
	}

	/** Hosts that the proxy rejected. */
	get rejected(): string[] {
		return this.proxy.rejected;
	}

	/** Deletes everything that was sent. */
	reset(): void {
		this.sheets.reset();
		this.gmail.mails.length = 0;
		this.slack.messages.length = 0;
		this.hubspot.contacts.clear();
		this.zoho.leads.clear();
		this.salesforce.leads.clear();
	}

	async stop(): Promise<void> {
		await this.proxy.stop();
		await this.services.close();
	}
}
