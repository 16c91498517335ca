/** The page **Settings > Community nodes** of n8n's editor. */
import type { Page } from 'playwright-core';

const SLOW = { timeout: 90_000 };

export class CommunityNodes {
	constructor(
		private readonly page: Page,
		private readonly baseUrl: string,
		private readonly picture: (name: string) => Promise<void>,
	) {}

	async open(): Promise<void> {
		await this.page.goto(`${this.baseUrl}/settings/community-nodes`);
		await this.page.getByText('Community nodes').last().waitFor();
	}

	/** Installs a package as a user does: by its name, and with the warning accepted. */
	async install(name: string): Promise<void> {
		await this.page
			.getByRole('button', { name: /^Install/ })
			.first()
			.click();
		const dialog = this.page.getByRole('dialog');
		await dialog.locator('input[type="text"]').fill(name);
		await dialog.getByRole('checkbox').click();
		await this.picture('2-install');
		await dialog.getByRole('button', { name: 'Install' }).click();
		await this.card(name).waitFor(SLOW);
	}

	card(name: string) {
		return this.page.getByTestId('community-package-card').filter({ hasText: name });
	}

	async update(name: string): Promise<void> {
		await this.card(name).getByRole('button', { name: 'Update' }).click();
		const dialog = this.page.getByRole('dialog');
		await dialog.waitFor();
		await this.picture('5-update');
		await dialog.getByRole('button', { name: /Update|Confirm/ }).click();
	}

	async untilVersion(name: string, version: string): Promise<void> {
		await this.card(name).getByText(`v${version}`).waitFor(SLOW);
	}
}
